// The way of a lorry, as in the README, with the generated TypeScript client.
import { deepStrictEqual } from "node:assert";
import { ArtikelApi, BelegeApi, BelegNeu, ChargenApi, Configuration, KundenApi, WaageApi } from "./client";

const config = new Configuration({ basePath: process.env.BASE, apiKey: process.env.KEY });
const belege = new BelegeApi(config);
const waage = new WaageApi(config);
const PDF = "JVBERi0xLjQKJSVFT0YK";

function expect(what: string, actual: unknown, expected: unknown): void {
  deepStrictEqual(actual, expected, `${what}: ${actual} instead of ${expected}`);
  console.log(`typescript: ${what}: ${actual}`);
}

async function flow(): Promise<void> {
  const [farm] = (await new KundenApi(config).getKunden({ suche: "Duggendorf" })).data;
  expect("supplier", farm.kundennr, "L-2001");
  const [wheat] = (await new ArtikelApi(config).getArtikel({ suche: "R01001" })).data;
  expect("article", wheat.bezeichnung, "Winterweichweizen");

  const weighing = await waage.postWiegungen({
    wiegungNeu: { waageId: 1, gewichtErstKg: 40120, partnerId: farm.id, artikelId: wheat.id },
  });
  const weighed = await waage.putWiegungenIdZweitwiegung({
    id: weighing.id,
    zweitwiegung: { gewichtZweitKg: "15260" },
  });
  expect("net weight", weighed.gewichtNettoKg, "24860.000");
  expect("direction", weighed.richtung, "eingang");

  await belege.postBelege({
    belegNeu: {
      belegTyp: "EL",
      kundennummer: "L-2001",
      externalRef: "typescript-1",
      items: [{ artikelnr: "R01001", wiegungId: weighing.id, fremdeChargeNr: "FELD-8" }],
    },
  });
  const batches = () => new ChargenApi(config).getChargen({ artikelId: wheat.id, mitBestand: true });
  const batch = (await batches()).find((one) => one.fremdeChargeNr === "FELD-8");
  expect("stock of the new batch", batch?.bestand, "24860.000");

  await belege.postBelege({
    belegNeu: {
      belegTyp: "LS",
      kundennummer: "K-1003",
      items: [{ artikelnr: "R01001", menge: 12000, chargeId: batch?.id }],
    },
  });
  const rest = (await batches()).find((one) => one.id === batch?.id);
  expect("stock after the delivery note", rest?.bestand, "12860.000");

  const belegNeu: BelegNeu = {
    belegTyp: "RE",
    kundennummer: "K-1003",
    externalRef: "typescript-2",
    items: [
      { artikelnr: "R01001", menge: 12000 },
      { bezeichnung: "Fracht", menge: 1, epNetto: "85.00", mwstSatz: 19 },
    ],
  };
  const created = await belege.postBelegeRaw({ belegNeu });
  const invoice = await created.value();
  expect("sum of the invoice", (await belege.getBelegeId({ id: invoice.id })).summeBrutto, "3567.95");
  const again = await belege.postBelegeRaw({ belegNeu });
  expect("answers", [created.raw.status, again.raw.status], [201, 200]);
  expect("the same invoice again", (await again.value()).id, invoice.id);

  const archived = await belege.postBelegeIdPdf({ id: invoice.id, belegPdfNeu: { dateiBase64: PDF } });
  expect("status with a PDF", archived.status, "abgeschlossen");
  const polled = await belege.getDokumente({ since: new Date("2026-01-01"), typen: "RE" });
  expect("polled", polled.find((one) => one.id === invoice.id)?.belegNummer, invoice.belegNummer);
  expect("PDF", (await belege.getBelegeIdPdf({ id: invoice.id })).dateiBase64, PDF);
}

flow().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});

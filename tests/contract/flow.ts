// The way of a lorry, as in the README, with types made from the description alone: a misspelled field does not compile.
import { deepStrictEqual } from "node:assert";
import createClient from "openapi-fetch";
import type { components, paths } from "./api";

const client = createClient<paths, "application/json">({ baseUrl: process.env.BASE, headers: { "X-API-Key": process.env.KEY } });
const PDF = "JVBERi0xLjQKJSVFT0YK";

function expect(what: string, actual: unknown, expected: unknown): void {
  deepStrictEqual(actual, expected, `${what}: ${actual} instead of ${expected}`);
  console.log(`typescript: ${what}: ${actual}`);
}

/** The content of an answer; a refusal ends the program with its code and its sentence. */
function content<T>({ data, error }: { data?: T; error?: components["schemas"]["Fehler"] }): T {
  if (data === undefined) throw new Error(`${error?.error}: ${error?.message}`);
  return data;
}

/** The first of a list, which must have one. */
function first<T>([found]: T[]): T {
  if (found === undefined) throw new Error("nothing was found");
  return found;
}

async function flow(): Promise<void> {
  const farm = first(content(await client.GET("/api/v1/kunden", { params: { query: { kundennr: "L-2001" } } })).data);
  expect("supplier", farm.name, "Bio-Hof Duggendorf GbR");
  const wheat = first(content(await client.GET("/api/v1/artikel", { params: { query: { artikelnummer: "R01001" } } })).data);
  expect("article", wheat.bezeichnung, "Winterweichweizen");

  const weighing = content(await client.POST("/api/v1/wiegungen", {
    body: { waage_id: 1, gewicht_erst_kg: 40120, partner_id: farm.id, artikel_id: wheat.id },
  }));
  const weighed = content(await client.PUT("/api/v1/wiegungen/{id}/zweitwiegung", {
    params: { path: { id: weighing.id } }, body: { gewicht_zweit_kg: "15260" },
  }));
  expect("net weight", weighed.gewicht_netto_kg, "24860.000");
  expect("direction", weighed.richtung, "eingang");

  content(await client.POST("/api/v1/belege", {
    body: {
      beleg_typ: "EL", kundennummer: "L-2001", external_ref: "typescript-1",
      items: [{ artikelnr: "R01001", wiegung_id: weighing.id, fremde_charge_nr: "FELD-8" }],
    },
  }));
  const batches = async () =>
    content(await client.GET("/api/v1/chargen", { params: { query: { artikel_id: wheat.id, mit_bestand: true } } }));
  const batch = first((await batches()).filter((one) => one.fremde_charge_nr === "FELD-8"));
  expect("stock of the new batch", batch.bestand, "24860.000");

  content(await client.POST("/api/v1/belege", {
    body: { beleg_typ: "LS", kundennummer: "K-1003", items: [{ artikelnr: "R01001", menge: 12000, charge_id: batch.id }] },
  }));
  const rest = (await batches()).find((one) => one.id === batch.id);
  expect("stock after the delivery note", rest?.bestand, "12860.000");

  const body: components["schemas"]["BelegNeu"] = {
    beleg_typ: "RE", kundennummer: "K-1003", external_ref: "typescript-2",
    items: [
      { artikelnr: "R01001", menge: 12000 },
      { bezeichnung: "Fracht", menge: 1, ep_netto: "85.00", mwst_satz: 19 },
    ],
  };
  const created = await client.POST("/api/v1/belege", { body });
  const invoice = content(created);
  const path = { id: invoice.id };
  expect("sum of the invoice", content(await client.GET("/api/v1/belege/{id}", { params: { path } })).summe_brutto, "3567.95");
  const again = await client.POST("/api/v1/belege", { body });
  expect("answers", [created.response.status, again.response.status], [201, 200]);
  expect("the same invoice again", content(again).id, invoice.id);

  const archived = content(await client.POST("/api/v1/belege/{id}/pdf", { params: { path }, body: { datei_base64: PDF } }));
  expect("status with a PDF", archived.status, "abgeschlossen");
  const query = { since: "2026-01-01", typen: "RE" };
  const polled = content(await client.GET("/api/v1/dokumente", { params: { query } }));
  expect("polled", polled.find((one) => one.id === invoice.id)?.beleg_nummer, invoice.beleg_nummer);
  const kept = content(await client.GET("/api/v1/belege/{id}/pdf", { params: { path } }));
  // As a PDF it would be text.
  expect("PDF", typeof kept === "object" && kept.datei_base64, PDF);

  const refused = await client.POST("/api/v1/belege", {
    body: { beleg_typ: "LS", kundennummer: "K-1003", items: [{ artikelnr: "GIBTESNICHT", menge: 1 }] },
  });
  expect("refused", refused.error?.error, "ARTIKEL_NICHT_GEFUNDEN");
}

flow().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});

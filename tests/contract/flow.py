"""The way of a lorry, as in the README, with the generated Python client."""
import datetime
import os
import sys

sys.path.insert(0, os.environ["WORK"])
from client import AuthenticatedClient  # noqa: E402
from client.api.artikel import get_artikel  # noqa: E402
from client.api.belege import (  # noqa: E402
    get_belege_id,
    get_belege_id_pdf,
    get_dokumente,
    post_belege,
    post_belege_id_pdf,
)
from client.api.chargen import get_chargen  # noqa: E402
from client.api.kunden import get_kunden  # noqa: E402
from client.api.waage import post_wiegungen, put_wiegungen_id_zweitwiegung  # noqa: E402
from client.models import BelegNeu, BelegPdfNeu, WiegungNeu, Zweitwiegung  # noqa: E402

PDF = "JVBERi0xLjQKJSVFT0YK"
api = AuthenticatedClient(
    base_url=os.environ["BASE"],
    token=os.environ["KEY"],
    prefix="",
    auth_header_name="X-API-Key",
    raise_on_unexpected_status=True,
)


def expect(what, actual, expected):
    assert actual == expected, f"{what}: {actual!r} instead of {expected!r}"
    print(f"python: {what}: {actual}")


def call(operation, status, **arguments):
    answer = operation.sync_detailed(client=api, **arguments)
    assert answer.status_code == status, f"{operation.__name__}: {answer.status_code} {answer.content!r}"
    return answer.parsed


farm = call(get_kunden, 200, suche="Duggendorf").data[0]
expect("supplier", farm.kundennr, "L-2001")
wheat = call(get_artikel, 200, suche="R01001").data[0]
expect("article", wheat.bezeichnung, "Winterweichweizen")

weighing = {"waage_id": 1, "gewicht_erst_kg": 40120, "partner_id": str(farm.id), "artikel_id": str(wheat.id)}
weighing = call(post_wiegungen, 201, body=WiegungNeu.from_dict(weighing))
second = Zweitwiegung.from_dict({"gewicht_zweit_kg": "15260"})
weighed = call(put_wiegungen_id_zweitwiegung, 200, id=weighing.id, body=second)
expect("net weight", weighed.gewicht_netto_kg, "24860.000")
expect("direction", weighed.richtung, "eingang")

line = {"artikelnr": "R01001", "wiegung_id": str(weighing.id), "fremde_charge_nr": "FELD-7"}
purchase = {"beleg_typ": "EL", "kundennummer": "L-2001", "external_ref": "python-1", "items": [line]}
purchase = call(post_belege, 201, body=BelegNeu.from_dict(purchase))
batch = purchase.lagerbewegungen[0].charge_id
batches = call(get_chargen, 200, artikel_id=wheat.id, mit_bestand=True)
stock = {one.id: one.bestand for one in batches}
expect("stock of the new batch", stock[batch], "24860.000")

line = {"artikelnr": "R01001", "menge": 12000, "charge_id": str(batch)}
note = {"beleg_typ": "LS", "kundennummer": "K-1003", "items": [line]}
note = call(post_belege, 201, body=BelegNeu.from_dict(note))
expect("goods moved by the delivery note", note.lagerbewegungen[0].menge, "-12000.000")

freight = {"bezeichnung": "Fracht", "menge": 1, "ep_netto": "85.00", "mwst_satz": 19}
invoice = {"beleg_typ": "RE", "kundennummer": "K-1003", "external_ref": "python-2",
           "items": [{"artikelnr": "R01001", "menge": 12000}, freight]}
invoice = BelegNeu.from_dict(invoice)
created = call(post_belege, 201, body=invoice)
expect("sum of the invoice", call(get_belege_id, 200, id=created.id).summe_brutto, "3567.95")
again = call(post_belege, 200, body=invoice)
expect("the same invoice again", again.id, created.id)
expect("idempotent", again.idempotent, True)

archived = call(post_belege_id_pdf, 201, id=created.id, body=BelegPdfNeu.from_dict({"datei_base64": PDF}))
expect("status with a PDF", archived.status, "abgeschlossen")
polled = call(get_dokumente, 200, since=datetime.date(2026, 1, 1), typen="RE")
expect("polled", [one.beleg_nummer for one in polled if one.id == created.id], [created.beleg_nummer])
expect("PDF", call(get_belege_id_pdf, 200, id=created.id).datei_base64, PDF)

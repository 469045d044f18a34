"""Walks "Der Weg eines LKW" of the description on the demo, request by request as it stands there."""
import json
import os
import re
import urllib.request

BASE, KEY = os.environ["BASE"], os.environ["KEY"]


def ask(method, path, body=None, accept="*/*"):
    headers = {"X-API-Key": KEY, "Content-Type": "application/json", "Accept": accept}
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(BASE + path, data, headers, method=method), timeout=60) as answer:
        return answer.read()


with open(os.environ["OPENAPI"]) as file:
    text = json.load(file)["info"]["description"]
guide = text.split("## Der Weg eines LKW")[1].split("\n## ")[0]
ids = {}
known = {"partner_id": json.loads(ask("GET", "/api/v1/kunden?kundennr=L-2001"))["data"][0]["id"]}
ended_with_invoice = False
for block in re.findall(r"```http\n(.*?)```", guide, re.S):
    lines = [line.strip() for line in block.strip().splitlines()]
    method, path = lines[0].split(" ")
    accept = next((line.removeprefix("Accept: ") for line in lines if line.startswith("Accept: ")), "*/*")
    body = next((json.loads(line) for line in lines if line.startswith("{")), None)
    noun = path.split("/")[3].split("?")[0]
    # Ids in the text are examples: here are those of the answers before.
    path = path.replace("{id}", ids.get(noun, "")).replace("warten=30", "warten=0")
    for part in [body, *(body.get("items", []) if body else [])]:
        for field in ("partner_id", "wiegung_id"):
            if part and field in part:
                part[field] = known[field]
    answer = ask(method, path, body, accept)
    print(method, path, len(answer))
    if method == "POST" and path.count("/") == 3:
        ids[noun] = json.loads(answer)["id"]
        known["wiegung_id"] = ids.get("wiegungen")
    if path.endswith("/pdf"):
        assert answer.startswith(b"%PDF"), answer[:80]
    if path.endswith("/erechnung"):
        assert b"CrossIndustryInvoice" in answer and b"24412345678" in answer, answer[:400]
        ended_with_invoice = True
assert ended_with_invoice, "the guide shows no e-invoice"

// The fixed texts of Swagger UI, which has no other language: it draws each of them with createElement.
const TEXTS = {
  "Parameters": "Parameter",
  "No parameters": "Keine Parameter",
  "Name": "Name",
  "Description": "Beschreibung",
  "Request body": "Inhalt der Anfrage",
  "required": "Pflicht",
  " *": " *",
  "Try it out ": "Ausprobieren",
  "Cancel": "Abbrechen",
  "Reset": "Zurücksetzen",
  "Execute": "Senden",
  "Clear": "Leeren",
  "Responses": "Antworten",
  "Response": "Antwort",
  "Server response": "Antwort des Dienstes",
  "Response body": "Inhalt",
  "Response headers": "Header",
  "Request URL": "Adresse",
  "Request duration": "Dauer",
  "Code": "Status",
  "Details": "Einzelheiten",
  "Links": "Links",
  "No links": "Keine Links",
  "Media type": "Art des Inhalts",
  "Example Value": "Beispiel",
  "Edit Value": "Bearbeiten",
  "Schema": "Schema",
  "Examples: ": "Beispiele: ",
  "Examples": "Beispiele",
  "[Modified value]": "[bearbeitet]",
  "Download": "Herunterladen",
  "Download file": "Datei herunterladen",
  "Send empty value": "Leer senden",
  "Controls ": "Bestimmt ",
  " header.": ".",
  "Headers:": "Header:",
  "Type": "Art",
  "Loading": "Lädt",
  "Undocumented": "Nicht beschrieben",
  "Error": "Fehler",
  " No operations defined in spec!": "Nichts gefunden. Gesucht wird nach allen Wörtern zugleich.",
};

export function inGerman({ getSystem }) {
  const { React } = getSystem();
  const create = React.createElement;
  React.createElement = (type, props, ...children) =>
    create(type, props, ...children.map((child) => (typeof child === "string" ? (TEXTS[child] ?? child) : child)));
  return {};
}

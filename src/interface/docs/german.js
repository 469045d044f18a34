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
  "Please correct the following validation errors and try again.": "So geht die Anfrage nicht:",
  " No operations defined in spec!": "Nichts gefunden. Gesucht wird nach allen Wörtern zugleich.",
};

// Types of parameters, alone or with others: `integer | string`.
const TYPES = { string: "Text", integer: "ganze Zahl", number: "Zahl", boolean: "true oder false" };

// What has something of ours in it.
const PATTERNS = [
  [/^For '(.+)': Required field is not provided\.$/, "$1 fehlt."],
  [/^For '(.+)': Value must be a Guid\.$/, "$1 muss eine UUID sein."],
  [/^For '(.+)': Value must be less than or equal to (.+)\.$/, "$1 darf höchstens $2 sein."],
  [/^For '(.+)': Value must be greater than or equal to (.+)\.$/, "$1 muss mindestens $2 sein."],
  [/^For '(.+)': Value must be an? (.+)\.$/, (_, name, type) => `${name} muss ${TYPES[type] ?? type} sein.`],
  [/^<i>Available values<\/i> : /, "Zur Auswahl: "],
  [/^<i>Default value<\/i> : /, "Ohne Angabe: "],
];

function german(text) {
  if (Object.hasOwn(TEXTS, text)) return TEXTS[text];
  if (text.split(" | ").every((type) => Object.hasOwn(TYPES, type))) {
    return text.split(" | ").map((type) => TYPES[type]).join(" oder ");
  }
  return PATTERNS.reduce((shown, [pattern, ours]) => shown.replace(pattern, ours), text);
}

export function inGerman({ getSystem }) {
  const { React } = getSystem();
  const create = React.createElement;
  const translated = (child) => (typeof child === "string" ? german(child) : child);
  React.createElement = (type, props, ...children) => {
    const shown = typeof props?.source === "string" ? { ...props, source: german(props.source) } : props;
    return create(type, shown, ...children.map(translated));
  };
  return {};
}

// What can be found of each operation, by method and path.
const words = new Map();

// No validator badge, no telemetry, no stored key: the page talks to this service alone.
const page = SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#docs",
  validatorUrl: null,
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  persistAuthorization: false,
  plugins: [{ fn: { opsFilter: search } }],
  onComplete() {
    const description = page.specSelectors.specJson().toJS();
    askForPdf(description);
    collectWords(description);
    const box = document.querySelector(".operation-filter-input");
    box?.setAttribute("placeholder", "Suchen: Wörter aus Text, Adresse oder Feldern");
  },
});

// Where an answer can be a PDF, the file is what a reader wants. The first call chooses what is shown, the second what
// is sent as Accept; a choice made on the page replaces both.
function askForPdf({ paths }) {
  const value = "application/pdf";
  for (const [path, { get }] of Object.entries(paths)) {
    if (get?.responses["200"]?.content?.[value]) {
      page.specActions.changeProducesValue([path, "get"], value);
      page.oas3Actions.setResponseContentType({ value, path, method: "get" });
    }
  }
}

function folded(text) {
  const plain = text.toLowerCase().replaceAll("ä", "ae").replaceAll("ö", "oe").replaceAll("ü", "ue");
  return plain.replaceAll("ß", "ss");
}

// Method, path, group, texts and parameters of each operation, and the fields of what is sent and answered.
function collectWords({ paths, components }) {
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const { summary, description, tags, parameters = [], requestBody, responses } = operation;
      const answers = Object.entries(responses).filter(([status]) => status < "300").map(([, answer]) => answer.content);
      const named = parameters.map(({ name }) => name);
      const fields = fieldsOf([requestBody, answers], components.schemas);
      words.set(`${method} ${path}`, folded([method, path, summary, description, ...tags, ...named, ...fields].join(" ")));
    }
  }
}

// The names of the fields of all shapes that this part of the description refers to, each shape once.
function fieldsOf(part, schemas) {
  const shapes = new Set();
  const waiting = [part];
  while (waiting.length > 0) {
    for (const [, name] of (JSON.stringify(waiting.pop()) ?? "").matchAll(/#\/components\/schemas\/(\w+)/g)) {
      if (!shapes.has(name)) waiting.push(schemas[name]);
      shapes.add(name);
    }
  }
  return [...shapes].flatMap((name) => Object.keys(schemas[name]?.properties ?? {}));
}

// Swagger UI's own filter looks at the names of the groups alone. All words must be found.
function search(groups, phrase) {
  const asked = folded(phrase).split(/\s+/);
  const fits = (operation) => {
    const text = words.get(`${operation.get("method")} ${operation.get("path")}`) ?? "";
    return asked.every((word) => text.includes(word));
  };
  const found = groups.map((group) => group.update("operations", (operations) => operations.filter(fits)));
  return found.filter((group) => group.get("operations").size > 0);
}

// What can be found of each operation, by method and path.
const words = new Map();

function folded(text) {
  const plain = text.toLowerCase().replaceAll("ä", "ae").replaceAll("ö", "oe").replaceAll("ü", "ue");
  return plain.replaceAll("ß", "ss");
}

// Method, path, group, texts and parameters of each operation, and the fields of what is sent and answered.
export function collectWords({ paths, components }) {
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const { summary, description, tags, parameters = [], responses } = operation;
      const answers = Object.entries(responses).filter(([status]) => status < "300").map(([, answer]) => answer.content);
      const named = parameters.map(({ name }) => name);
      const fields = fieldsOf([sent(paths, path, method), answers], components.schemas);
      words.set(`${method} ${path}`, folded([method, path, summary, description, ...tags, ...named, ...fields].join(" ")));
    }
  }
}

// The bodies that an operation takes. An entry of a bulk request is what the operation for one takes.
function sent(paths, path, method) {
  const single = paths[path.replace(/\/stapel$/, "")];
  return [paths[path][method].requestBody, single?.[method]?.requestBody];
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
export function search(groups, phrase) {
  const asked = folded(phrase).split(/\s+/);
  const fits = (operation) => {
    const text = words.get(`${operation.get("method")} ${operation.get("path")}`) ?? "";
    return asked.every((word) => text.includes(word));
  };
  const found = groups.map((group) => group.update("operations", (operations) => operations.filter(fits)));
  return found.filter((group) => group.get("operations").size > 0);
}

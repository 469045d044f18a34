// The fields of what is sent and answered, as a list with the meaning of each: Swagger UI shows them behind a tab, one
// level at a time.

// As deep as the deepest body; an origin (`GET /chargen/{id}/herkunft`) has no end.
const DEPTH = 4;

const KINDS = { string: "Text", integer: "ganze Zahl", number: "Zahl", boolean: "true oder false", object: "Objekt", array: "Liste" };
const FORMATS = { date: "Tag", "date-time": "Zeitpunkt", uuid: "UUID", binary: "Datei" };

export function fieldLists({ getSystem }) {
  const { React, specSelectors } = getSystem();
  let read, description;
  const beside = (Original, bodyOf, title) => (props) => {
    // A megabyte; it is read once.
    if (read !== specSelectors.specJson()) description = (read = specSelectors.specJson()).toJS();
    const schema = bodyOf(description.paths, props);
    const rows = schema ? fieldRows(React.createElement, description.components.schemas, schema, DEPTH) : null;
    const list = rows && listOf(React.createElement, title, rows);
    const original = React.createElement(Original, props);
    // Whoever tries a request has the box for it and its answer at hand.
    const parts = props.isExecute || props.tryItOutResponse ? [original, list] : [list, original];
    return React.createElement(React.Fragment, null, ...parts);
  };
  return {
    wrapComponents: {
      RequestBody: (Original) => beside(Original, sentBody, "Felder der Anfrage"),
      responses: (Original) => beside(Original, answeredBody, "Felder der Antwort"),
      headers: (Original) => folded(React, Original),
    },
  };
}

// The same ten headers stand below each status: they are drawn for whoever asks for them.
function folded(React, Original) {
  const h = React.createElement;
  return function Folded(props) {
    const [isOpen, setIsOpen] = React.useState(false);
    if (!props.headers?.size) return null;
    const onToggle = ({ target }) => setIsOpen(target.open);
    return h("details", { onToggle }, h("summary", null, "Header"), isOpen && h(Original, props));
  };
}

const shape = (part) => part?.content?.["application/json"]?.schema;

// An entry of a bulk request is what the operation for one takes.
function sentBody(paths, { specPath }) {
  const [, path, method] = specPath.toJS();
  const schema = shape(paths[path][method].requestBody);
  const one = path.endsWith("/stapel") && shape(paths[path.replace(/\/stapel$/, "")][method].requestBody);
  return one ? { schema, entry: one } : { schema };
}

function answeredBody(paths, { path, method }) {
  const { responses } = paths[path][method];
  // 200 beside 201 is what was there already.
  const schema = shape(responses["201"]) ?? shape(responses["200"]);
  return schema && { schema, isAnswer: true };
}

const listOf = (h, title, rows) => h("section", { className: "fields" }, h("h4", null, title), rows);

function fieldRows(h, schemas, { schema, entry, isAnswer }, depth) {
  const { properties, required = [] } = inside(schemas, schema);
  if (!properties || depth === 0) return null;
  const row = ([name, field]) => {
    const must = !isAnswer && required.includes(name) && h("em", null, "Pflicht");
    const nested = fieldRows(h, schemas, { schema: entry && name === "items" ? entry : field, isAnswer }, depth - 1);
    return h(
      "div",
      { key: name },
      h("dt", null, h("code", null, name), " ", h("span", null, kindOf(schemas, field)), " ", must),
      h("dd", null, field.description, nested),
    );
  };
  const rows = Object.entries(properties);
  const isNeeded = ([name]) => !isAnswer && required.includes(name);
  return h("dl", null, [...rows.filter(isNeeded), ...rows.filter((row) => !isNeeded(row))].map(row));
}

// The shape that a reference, a choice with null or a list stands for.
function inside(schemas, schema) {
  if (schema.$ref) return inside(schemas, schemas[schema.$ref.split("/").pop()] ?? {});
  const choice = schema.anyOf?.find(({ type }) => type !== "null") ?? schema.items;
  return choice ? inside(schemas, choice) : schema;
}

function kindOf(schemas, schema) {
  if (schema.items) return `Liste: ${kindOf(schemas, schema.items)}`;
  const { type, format, enum: values } = inside(schemas, schema);
  if (values) return values.join(", ");
  if (FORMATS[format] && !type.includes("integer")) return FORMATS[format];
  return [type].flat().filter((name) => name && name !== "null").map((name) => KINDS[name]).join(" oder ");
}

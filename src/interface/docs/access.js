// What Swagger UI leaves out for those who work by keyboard or with a screen reader.

// A list to choose from has no name of its own.
const SELECTS = { "examples-select-element": "Beispiel", "content-type": "Art des Inhalts" };

export function accessible({ getSystem }) {
  const { React } = getSystem();
  const create = React.createElement;
  React.createElement = (type, props, ...children) => create(...mended(type, props), ...children);
  return { wrapComponents: { DeepLink: (Original) => (props) => linkOf(create, Original, props) } };
}

function mended(type, props) {
  // The page has its own main part around this one.
  if (type === "main") return ["div", props];
  if (type === "select") return [type, { "aria-label": SELECTS[props?.className] ?? "Auswahl", ...props }];
  // Long lines are moved by the keyboard, too.
  if (type === "pre") return [type, { tabIndex: 0, ...props }];
  // The answers of each operation would be one more landmark.
  if (type === "table" && props?.role === "region") return [type, { ...props, role: undefined }];
  return [type, props];
}

// The path of an operation stands in the button that opens it: a link inside it is a second control in the same place.
function linkOf(create, Original, props) {
  return props.path.includes("/") ? create("span", null, props.text) : create(Original, props);
}

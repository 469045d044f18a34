// Swagger UI resolves the references of an operation by reading the whole description several times, seconds each. Here
// the operation alone is read.

// As deep as one unfolds a schema by hand; an origin (`GET /chargen/{id}/herkunft`) has no end.
const DEPTH = 4;

export const quickResolver = {
  fn: {
    async resolveSubtree(description, place) {
      const part = place.reduce((inside, name) => inside?.[name], description);
      return { spec: resolved(description, part, DEPTH), errors: [] };
    },
  },
};

function resolved(description, part, depth) {
  if (Array.isArray(part)) return part.map((entry) => resolved(description, entry, depth));
  if (part === null || typeof part !== "object") return part;
  if (typeof part.$ref !== "string") {
    // What an example says is data, whatever its names.
    const entry = ([name, value]) => [name, name === "examples" ? value : resolved(description, value, depth)];
    return Object.fromEntries(Object.entries(part).map(entry));
  }
  if (depth === 0) return { type: "object", description: "Siehe weiter oben." };
  const names = part.$ref.slice(2).split("/");
  const target = names.reduce((inside, name) => inside[name], description);
  const found = resolved(description, target, depth - 1);
  return names[1] === "schemas" ? { title: names[2], ...found } : found;
}

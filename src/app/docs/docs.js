// A PDF is meant where there is one: the page asks for the type that stands first.
function withPdfFirst(description) {
  for (const { get } of Object.values(description.paths)) {
    const answer = get?.responses["200"];
    const pdf = answer?.content?.["application/pdf"];
    if (pdf) answer.content = { "application/pdf": pdf, ...answer.content };
  }
  return description;
}

// No validator badge, no telemetry, no stored key: the page talks to this service alone.
function show(description) {
  SwaggerUIBundle({
    spec: withPdfFirst(description),
    dom_id: "#docs",
    validatorUrl: null,
    deepLinking: true,
    docExpansion: "list",
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    filter: true,
    persistAuthorization: false,
  });
}

fetch("/openapi.json").then((answer) => answer.json()).then(show);

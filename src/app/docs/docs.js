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
  onComplete: askForPdf,
});

// Where an answer can be a PDF, the file is what a reader wants. The first call chooses what is shown, the second what
// is sent as Accept; a choice made on the page replaces both.
function askForPdf() {
  const value = "application/pdf";
  const { paths } = page.specSelectors.specJson().toJS();
  for (const [path, { get }] of Object.entries(paths)) {
    if (get?.responses["200"]?.content?.[value]) {
      page.specActions.changeProducesValue([path, "get"], value);
      page.oas3Actions.setResponseContentType({ value, path, method: "get" });
    }
  }
}

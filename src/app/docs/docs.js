// No validator badge, no telemetry, no stored key: the page talks to this service alone.
SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#docs",
  validatorUrl: null,
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  persistAuthorization: false,
});

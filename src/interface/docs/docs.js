import { accessible } from "/docs/access.js";
import { fieldLists } from "/docs/fields.js";
import { inGerman } from "/docs/german.js";
import { quickResolver } from "/docs/resolve.js";
import { collectWords, search } from "/docs/search.js";

const find = (id) => document.getElementById(id);
const nothing = () => () => null;

// What the bar of this page does itself: the box for the search, the button and the locks for the key.
const barInstead = { wrapComponents: { FilterContainer: nothing, AuthorizeBtnContainer: nothing, authorizeOperationBtn: nothing } };

// No validator badge, no telemetry, no stored key: the page talks to this service alone.
const page = SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#docs",
  validatorUrl: null,
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  persistAuthorization: false,
  plugins: [inGerman, accessible, quickResolver, barInstead, fieldLists, { fn: { opsFilter: search } }],
  onComplete() {
    const description = page.specSelectors.specJson().toJS();
    askForPdf(description);
    collectWords(description);
    listContents(description);
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

// The headings of the introduction and the groups of operations.
function listContents({ tags }) {
  const headings = [...document.querySelectorAll(".info .renderedMarkdown h2")];
  const introduction = headings.map((heading) => [heading.textContent, () => heading]);
  const groups = tags.map(({ name }) => [name, () => document.querySelector(`.opblock-tag[data-tag="${name}"]`)]);
  const contents = document.querySelector("#contents details");
  contents.open = matchMedia("(min-width: 1100px)").matches;
  contents.lastElementChild.replaceChildren(list("Einleitung", introduction), list("Adressen", groups));
}

function list(title, entries) {
  const section = document.createElement("section");
  const heading = document.createElement("h2");
  heading.textContent = title;
  const buttons = entries.map(([text, target]) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.addEventListener("click", () => {
      searchFor("");
      // Swagger UI draws what the search had hidden before the next frame.
      requestAnimationFrame(() => target()?.scrollIntoView());
    });
    return button;
  });
  section.append(heading, ...buttons);
  return section;
}

// Drawing all operations takes longer than the next key stroke.
const PAUSE = 200;
let waiting;
find("search").addEventListener("input", ({ target }) => {
  clearTimeout(waiting);
  waiting = setTimeout(() => searchFor(target.value), PAUSE);
});

function searchFor(phrase) {
  if (find("search").value !== phrase) find("search").value = phrase;
  const asked = phrase.trim();
  document.body.classList.toggle("searching", asked !== "");
  if (asked !== "") scrollTo(0, 0);
  page.layoutActions.updateFilter(asked);
}

find("key").addEventListener("click", () => find("ask").showModal());
find("forget").addEventListener("click", () => enter(""));
find("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  enter(find("value").value.trim());
});

function enter(key) {
  if (key === "") page.authActions.logout(["ApiKey"]);
  else page.preauthorizeApiKey("ApiKey", key);
  find("value").value = key;
  find("key").textContent = key === "" ? "Schlüssel eintragen" : "Schlüssel eingetragen";
  find("key").classList.toggle("entered", key !== "");
  find("ask").close();
}

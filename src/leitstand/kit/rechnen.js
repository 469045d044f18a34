"use strict";
// The form of a document: tries it while a person types, as the button "Prüfen" does, and shows the results. The
// field they are typing in stays unchanged.
(() => {
  const form = document.querySelector("[data-rechnet] form");
  const said = () => new URLSearchParams(new FormData(form)).toString();
  let timer = 0;
  // The rows edited since their results were last shown; null: all of them, because their options may differ.
  let typed = null;
  const rowOf = (field) => /^items\[(\d+)\]/.exec(field.name)?.[1];

  function replace(fresh) {
    const old = document.getElementById(fresh.id);
    if (!old) form.querySelector("fieldset.row:last-of-type")?.after(fresh);
    else if (!old.contains(document.activeElement)) old.replaceWith(fresh);
    else fresh.querySelectorAll("[data-rechnet-teil]").forEach(replace);
    // Writes the record that was meant into its field, once nobody is in there.
    for (const text of fresh.querySelectorAll('[name$="_text"]')) {
      const typed = form.elements[text.name.replace(/_text$/, "")];
      if (typed === document.activeElement) text.dataset.typed = typed.value;
      else typed.value = text.value;
    }
  }

  async function compute(isAgain = false) {
    const sent = said();
    const refused = [...form.querySelectorAll('[aria-invalid="true"]')].map(rowOf);
    const rows = typed && `&zeilen=${[...new Set([...typed, ...refused])].filter(Boolean)}`;
    try {
      const answer = await fetch(location.href, {
        method: "POST",
        redirect: "error",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: `${sent}&schritt=pruefen${rows ?? ""}`,
      });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      // The person typed on meanwhile: the next trial follows.
      if (said() !== sent) return;
      page
        .querySelectorAll("fieldset.row, .outcome:not(fieldset *), .head [data-rechnet-teil], #summe")
        .forEach(replace);
      // The results do not cover the records that this answer has just filled in.
      if (!isAgain && said() !== sent) await compute(true);
      else typed = new Set();
    } catch {
      // The button still works.
    }
  }

  form.addEventListener("focusout", ({ target }) => {
    const meant = form.elements[`${target.name}_text`];
    if (meant && meant.dataset.typed === target.value) target.value = meant.value;
  });
  form.addEventListener("input", ({ target }) => {
    // The contracts on offer in each row depend on the partner.
    if (target.name === "partner") typed = null;
    else typed?.add(rowOf(target));
    clearTimeout(timer);
    timer = setTimeout(() => compute(), 400);
  });
  // A document made from another is filled in already.
  if (form.elements.partner.value) compute();
})();

// Enhancements only: the API reference can be read without this script.

const element = (name, { role, ...properties } = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  if (role) made.setAttribute("role", role);
  made.append(...children);
  return made;
};

// ── Search ──────────────────────────────────────────────────────────────────────────────────────────────────

const operations = [...document.querySelectorAll(".operation")].map((details) => {
  const names = [...details.querySelectorAll("th code")].map((code) => code.textContent);
  const text = [details.querySelector("summary").textContent, ...names].join(" ").toLowerCase();
  const method = details.querySelector(".method").textContent.toLowerCase();
  return { details, text, method };
});

const search = element("input", {
  type: "search", id: "search", autocomplete: "off", spellcheck: false, placeholder: "Path, word or field",
});
const found = element("p", { className: "small", role: "status" });

// The name of a method is not a part of another word: "post" does not find "postal_code".
const methods = new Set(operations.map(({ method }) => method));
const matches = ({ text, method }, word) => (methods.has(word) ? word === method : text.includes(word));

const show = () => {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const operation of operations) {
    operation.details.hidden = !words.every((word) => matches(operation, word));
    count += !operation.details.hidden;
  }
  for (const section of document.querySelectorAll("main > section")) {
    section.hidden = !section.querySelector(".operation:not([hidden])");
    const link = document.querySelector(`.chapters a[href="#${section.getAttribute("aria-labelledby")}"]`);
    link.closest("li").hidden = section.hidden;
  }
  for (const part of document.querySelectorAll("#top > :not(h1)")) part.hidden = words.length > 0;
  found.textContent = words.length ? `${count || "No"} ${count === 1 ? "operation" : "operations"}` : "";
};

search.addEventListener("input", show);
document.querySelector(".chapters .home").after(
  element("div", { className: "search" },
    element("label", { htmlFor: "search", textContent: "Search operations" }), search, found),
);

addEventListener("keydown", (event) => {
  const isTyping = event.target.matches("input, textarea, select");
  if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    search.focus();
  }
});

// A link to an operation that the search hides, or that is closed, shows it.
const reveal = () => {
  const name = location.hash.slice(1); // the ids on this page need no percent-encoding
  const target = document.getElementById(name);
  const details = target?.closest(".operation");
  if (!target?.closest("main")) return;
  if (details ? details.hidden : search.value) {
    search.value = "";
    show();
  }
  if (details) details.open = true;
  target.scrollIntoView();
};
addEventListener("hashchange", reveal);
if (location.hash) reveal();

// ── Copy ────────────────────────────────────────────────────────────────────────────────────────────────────

const copy = async (pre) => {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(pre.textContent);
    return;
  }
  // Without https there is no clipboard, only the command.
  const selection = getSelection();
  selection.selectAllChildren(pre);
  const isDone = document.execCommand("copy");
  selection.removeAllRanges();
  if (!isDone) throw new Error("not allowed");
};

const addCopyButton = (pre, what) => {
  const button = element("button", { type: "button", className: "copy", textContent: "Copy" });
  button.setAttribute("aria-label", `Copy ${what}`);
  const status = element("span", { className: "visually-hidden", role: "status" });
  button.addEventListener("click", async () => {
    const said = await copy(pre).then(() => "Copied", () => "Not copied");
    button.textContent = status.textContent = said;
    setTimeout(() => {
      button.textContent = "Copy";
      status.textContent = "";
    }, 2_000);
  });
  const frame = element("div", { className: "copyable" });
  pre.replaceWith(frame);
  frame.append(pre, button, status);
};

for (const pre of document.querySelectorAll(".examples pre")) addCopyButton(pre, pre.dataset.what);

// ── Try it ──────────────────────────────────────────────────────────────────────────────────────────────────

// In this variable alone: a reload forgets it.
let token = "";
const base = location.pathname.replace(/\/api\/docs$/, "");
const longest = 100_000; // characters of a shown response
const shownHeaders = ["ETag", "Gatehouse-Unknown-Fields", "Retry-After", "WWW-Authenticate", "X-Request-Id"];
let fields = 0;

const addField = (form, text, input) => {
  input.id = `try-${(fields += 1)}`;
  form.append(element("label", { htmlFor: input.id, textContent: text }), input);
  return input;
};

const build = (details, form) => {
  const { method, path, needsToken } = details.dataset;
  const field = needsToken && addField(form, "Token", element("input", {
    type: "password", autocomplete: "off", spellcheck: false, required: true, value: token,
  }));
  if (field) {
    form.append(element("p", {
      className: "small", textContent: "The token stays in this page and is forgotten when you leave it.",
    }));
  }
  const parameters = [...details.querySelectorAll("tr[data-place]")].map((row) => {
    const { place, name } = row.dataset;
    const required = place === "path";
    const input = element("input", { type: "text", autocomplete: "off", spellcheck: false, required });
    return { place, name, input: addField(form, name, input) };
  });
  const example = details.querySelector('pre[data-what="body"]');
  const rows = Math.min(16, (example?.textContent.split("\n").length ?? 0) + 1);
  const body = example && addField(form, "Body", element("textarea", {
    rows, spellcheck: false, value: example.textContent,
  }));
  const button = element("button", {
    type: "submit", className: "button button-primary", textContent: "Send request",
  });
  const status = element("p", { className: "small", role: "status" });
  const response = element("pre", { tabIndex: 0 });
  if (method !== "GET") {
    form.append(element("p", {
      className: "small", textContent: "This is a real request: it can change data.",
    }));
  }
  form.append(button, status, response);
  addCopyButton(response, "response");
  response.parentElement.hidden = true;

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const headers = {};
    const query = new URLSearchParams();
    let target = path;
    for (const { place, name, input } of parameters) {
      if (place === "path") target = target.replace(`{${name}}`, encodeURIComponent(input.value));
      else if (input.value && place === "query") query.set(name, input.value);
      else if (input.value && place === "header") headers[name] = input.value;
    }
    if (field) {
      token = field.value.trim().replace(/^Bearer\s+/i, "");
      headers.Authorization = `Bearer ${token}`;
    }
    if (body?.value) headers["Content-Type"] = "application/json";
    button.disabled = true;
    status.textContent = "Sending…";
    try {
      const answer = await fetch(`${base}${target}${query.size ? `?${query}` : ""}`, {
        method, headers, body: body?.value || undefined, credentials: "omit", cache: "no-store",
      });
      const text = await answer.text();
      const present = shownHeaders.filter((name) => answer.headers.has(name));
      const lines = present.map((name) => `${name}: ${answer.headers.get(name)}`);
      response.textContent = [...lines, "", format(text)].join("\n").trim().slice(0, longest);
      status.textContent = `Status ${answer.status} ${answer.statusText}`;
    } catch (error) {
      response.textContent = String(error);
      status.textContent = "The request failed.";
    }
    response.parentElement.hidden = false;
    button.disabled = false;
  });
};

const format = (text) => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
};

for (const details of document.querySelectorAll(".operation[data-method]")) {
  const form = element("form", { className: "try", autocomplete: "off" });
  const panel = element("details", { className: "more" }, element("summary", { textContent: "Try it" }), form);
  panel.addEventListener("toggle", () => {
    if (panel.open && !form.hasChildNodes()) build(details, form);
    const field = form.querySelector("input[type=password]");
    if (panel.open && field && !field.value) field.value = token;
  });
  details.querySelector(".examples").after(panel);
}

// Enhancements only: every page works without this script.

// A button shows the password while it is typed. It is hidden again before the form is sent.
for (const button of document.querySelectorAll("[data-reveal]")) {
  const input = document.getElementById(button.dataset.reveal);
  const status = document.getElementById(button.dataset.status);
  const show = (visible) => {
    input.type = visible ? "text" : "password";
    button.textContent = visible ? button.dataset.hide : button.dataset.show;
    button.setAttribute("aria-label", visible ? button.dataset.hideLabel : button.dataset.showLabel);
  };
  button.addEventListener("click", () => {
    const visible = input.type === "password";
    show(visible);
    status.textContent = visible ? button.dataset.shown : button.dataset.hidden;
  });
  input.form.addEventListener("submit", () => show(false));
  show(false);
  button.hidden = false;
}

// One submission at a time. The form can be sent again if the request stalls or the user goes back.
const release = (form) => form.removeAttribute("aria-busy");

for (const form of document.forms) {
  form.addEventListener("submit", (event) => {
    if (form.getAttribute("aria-busy") === "true") {
      event.preventDefault();
      return;
    }
    form.setAttribute("aria-busy", "true");
    setTimeout(release, 10_000, form);
  });
}

addEventListener("pageshow", () => [...document.forms].forEach(release));

// A new code can be asked for after a while. The server refuses earlier requests too.
for (const button of document.querySelectorAll("[data-wait]")) {
  const label = button.textContent;
  const until = Date.now() + button.dataset.wait * 1000;
  const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  const count = () => {
    const left = Math.ceil((until - Date.now()) / 1000);
    button.disabled = left > 0;
    button.textContent = left > 0 ? `${label} (${clock(left)})` : label;
    if (left <= 0) clearInterval(timer);
  };
  const timer = setInterval(count, 1000);
  count();
  button.form.querySelector("[data-wait-note]").hidden = true;
}

// An error is about the value that was sent, so it goes once the field changes.
for (const input of document.querySelectorAll("[aria-invalid]")) {
  const error = `${input.id}_error`;
  input.addEventListener("input", () => {
    const others = input.getAttribute("aria-describedby")?.split(" ").filter((id) => id !== error) ?? [];
    if (others.length) input.setAttribute("aria-describedby", others.join(" "));
    else input.removeAttribute("aria-describedby");
    input.removeAttribute("aria-invalid");
    document.getElementById(error)?.remove();
  }, { once: true });
}

// The field of a way that the user opens gets the focus.
for (const way of document.querySelectorAll("details.other-way")) {
  way.addEventListener("toggle", () => {
    if (way.open) way.querySelector("input.code")?.focus({ preventScroll: true });
  });
}

// Times are shown in the time zone of the reader.
for (const time of document.querySelectorAll("time[data-local]")) {
  const style = time.dataset.local === "date" ? { dateStyle: "medium" } : { dateStyle: "medium", timeStyle: "short" };
  const language = document.documentElement.lang === "en" ? "en-GB" : document.documentElement.lang;
  time.textContent = new Intl.DateTimeFormat(language, style).format(new Date(time.dateTime));
}

// The rules that a new password already satisfies are ticked. The server checks all rules.
const CHECKS = {
  min_length: (password, number) => [...password].length >= number,
  require_lowercase: (password) => /\p{Ll}/u.test(password),
  require_uppercase: (password) => /\p{Lu}/u.test(password),
  require_numbers: (password) => /\p{Nd}/u.test(password),
  require_special_chars: (password) => /[^\p{L}\p{N}]/u.test(password),
};

for (const rule of document.querySelectorAll("[data-rule]")) {
  const check = CHECKS[rule.dataset.rule];
  const input = document.getElementById(rule.parentElement.dataset.rules);
  if (check) input.addEventListener("input", () => {
    rule.toggleAttribute("data-met", check(input.value, Number(rule.dataset.number)));
  });
}

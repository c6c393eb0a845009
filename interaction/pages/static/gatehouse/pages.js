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

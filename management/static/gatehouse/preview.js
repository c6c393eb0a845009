// The preview follows the form beside it. Without this script, buttons show it.
{
  const form = document.getElementById("operation");
  const panel = document.querySelector(".preview");
  const buttons = panel ? [...panel.querySelectorAll(".preview-pages button")] : [];

  // Chooses the shade of a text on a colour as the pages do (WCAG 2.2, 1.4.3).
  const describe = (colour) => {
    const [r, g, b] = [1, 3, 5].map((at) => {
      const channel = parseInt(colour.slice(at, at + 2), 16) / 255;
      return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
    });
    const luminance = 0.2126 * r + 0.7152 * g + 0.0722 * b;
    const white = 1.05 / (luminance + 0.05);
    const black = (luminance + 0.05) / 0.05;
    const sentence = black > white ? panel.dataset.sayBlack : panel.dataset.sayWhite;
    return sentence.replace("{contrast}", Math.max(black, white).toFixed(1));
  };

  const addPicker = (input) => {
    const picker = document.createElement("input");
    picker.type = "color";
    picker.setAttribute("aria-label", panel.dataset.sayChoose.replace("{label}", input.labels[0].textContent));
    const note = document.createElement("p");
    note.className = "help";
    const row = document.createElement("div");
    row.className = "with-picker";
    input.after(row, note);
    row.append(input, picker);
    const follow = () => {
      const colour = input.value.trim();
      const isColour = colour !== "" && input.checkValidity();
      if (isColour) picker.value = colour.length === 4 ? colour.replace(/[0-9a-f]/gi, "$&$&") : colour;
      note.textContent = isColour ? describe(picker.value) : "";
    };
    picker.value = input.dataset.colour;
    follow();
    input.addEventListener("input", follow);
    picker.addEventListener("input", () => {
      input.value = picker.value;
      input.dispatchEvent(new Event("input", { bubbles: true }));
    });
  };

  const followForm = () => {
    let frame = panel.querySelector("iframe");
    let page = buttons[0];
    let timer;
    let next;
    let number = 0;
    // A new frame replaces the shown one when it has loaded: nothing flashes, and the browser's history
    // does not grow.
    const show = () => {
      clearTimeout(timer);
      next?.remove();
      next = frame.cloneNode();
      next.removeAttribute("src");
      next.name = `preview-${++number}`;
      next.classList.add("loading");
      frame.after(next);
      panel.ariaBusy = "true";
      for (const button of buttons) {
        button.ariaPressed = String(button === page);
        button.formTarget = next.name;
      }
      next.addEventListener("load", (event) => {
        if (event.target !== next) return;
        frame.remove();
        frame = next;
        next = undefined;
        frame.classList.remove("loading");
        panel.ariaBusy = "false";
      });
      form.requestSubmit(page);
    };
    const choose = (event) => {
      const pressed = buttons.find((button) => button.formAction === event.submitter?.formAction);
      if (!pressed || event.submitter.formTarget === next?.name) return;
      event.preventDefault();
      page = pressed;
      clearTimeout(timer);
      timer = setTimeout(show); // a form cannot be submitted while it is
    };
    const showSoon = (event) => {
      clearTimeout(timer);
      // A colour that is typed is no colour yet.
      if (event.target.form === form && form.checkValidity()) timer = setTimeout(show, 400);
    };
    form.addEventListener("submit", choose);
    form.addEventListener("input", showSoon);
    buttons[0].ariaPressed = "true";
  };

  form?.querySelectorAll("[data-colour]").forEach(addPicker);
  if (form && buttons.length) followForm();
}

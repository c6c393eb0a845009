// Enhancements only: every page of the operators' site works without this script.
{
  const root = document.documentElement;
  // Its sentences, in the administrator's language, are on the script's own element.
  const say = { ...document.currentScript.dataset };

  const read = (key) => {
    try {
      return localStorage.getItem(key);
    } catch {
      return null; // the browser stores nothing
    }
  };

  const store = (key, value) => {
    try {
      localStorage.setItem(key, value);
    } catch {
      // Then the choice counts for this page.
    }
  };

  const setTheme = (theme) => {
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
    else delete root.dataset.theme;
  };

  // Before the page is drawn, so that nothing flashes.
  setTheme(read("theme"));
  root.dataset.side = read("side") ?? "wide";

  const chooseTheme = (select) => {
    select.closest("[hidden]").hidden = false;
    select.value = root.dataset.theme ?? "auto";
    select.addEventListener("change", () => {
      store("theme", select.value);
      setTheme(select.value);
    });
  };

  const collapse = (button) => {
    const show = () => button.setAttribute("aria-expanded", String(root.dataset.side === "wide"));
    button.addEventListener("click", () => {
      root.dataset.side = root.dataset.side === "wide" ? "narrow" : "wide";
      store("side", root.dataset.side);
      show();
    });
    button.hidden = false;
    show();
  };

  const close = (button) => {
    button.hidden = false;
    button.addEventListener("click", () => button.closest("li").remove());
  };

  const copy = (button) => {
    if (!navigator.clipboard) return; // only pages with https have one
    const label = button.textContent;
    button.hidden = false;
    button.addEventListener("click", async () => {
      const { copyText, copyFrom } = button.dataset;
      await navigator.clipboard.writeText(copyText ?? document.getElementById(copyFrom).textContent);
      button.textContent = say.sayCopied;
      setTimeout(() => { button.textContent = label; }, 2000);
    });
  };

  // A menu closes when another one opens, on Escape, and when the user clicks somewhere else.
  const closeMenus = (except) => {
    for (const menu of document.querySelectorAll("details.popover[open]")) {
      if (menu !== except && !menu.contains(except)) menu.open = false;
    }
  };

  const selectRows = (form) => {
    const boxes = [...form.querySelectorAll("input.action-select")];
    const all = form.querySelector("#action-toggle");
    const across = form.querySelector("[name=select_across]");
    const counter = form.querySelector("[data-counter]");
    if (!all || !counter) return;
    const show = () => {
      const number = boxes.filter((box) => box.checked).length;
      counter.textContent = say.saySelected.replace("{number}", number);
      counter.hidden = number === 0;
      all.checked = number === boxes.length;
      all.indeterminate = number > 0 && !all.checked;
      if (across && !all.checked) across.checked = false;
    };
    const setAll = (checked) => {
      for (const box of boxes) box.checked = checked;
      show();
    };
    all.addEventListener("change", () => setAll(all.checked));
    across?.addEventListener("change", () => across.checked && setAll(true));
    for (const box of boxes) box.addEventListener("change", show);
    show();
  };

  // Each bar of a chart gets its numbers, and a link to its entries, from the table below the charts.
  const linkBars = (table) => {
    const rows = [...table.tBodies[0].rows];
    const [groups, names] = [...table.tHead.rows].map((row) => [...row.cells]);
    let start = 0;
    document.querySelectorAll(".plot").forEach((plot, place) => {
      const end = start + groups[place + 1].colSpan;
      const series = names.slice(start, end).map((cell) => cell.textContent);
      const svg = plot.querySelector("svg");
      const axis = svg.querySelector("line");
      const left = Number(axis.getAttribute("x1"));
      const width = (Number(axis.getAttribute("x2")) - left) / rows.length;
      const add = (parent, name, attributes = {}) => {
        const element = document.createElementNS(svg.namespaceURI, name);
        for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
        return parent.appendChild(element);
      };
      rows.forEach((row, index) => {
        const day = row.querySelector("a");
        const url = new URL(plot.dataset.log, location);
        url.searchParams.set("when", new URL(day.href).searchParams.get("when"));
        const numbers = [...row.cells].slice(start + 1, end + 1).map((cell) => cell.textContent);
        const parts = series.map((name, at) => `${name} ${numbers[at]}`).filter((_, at) => numbers[at] !== "0");
        // Keyboards find the numbers, and a link to all entries of the day, in the table.
        const bar = add(svg, "a", { href: url.href, tabindex: "-1" });
        add(bar, "title").textContent = `${day.textContent}: ${parts.join(", ") || say.sayNone}`;
        add(bar, "rect", { x: left + index * width, width });
      });
      start = end;
    });
  };

  // The field at the top shows what the search page would show.
  const find = (form) => {
    const input = form.querySelector("input");
    const found = form.querySelector(".found");
    let timer;
    let asked = "";
    const hide = () => { found.hidden = true; };
    const ask = async () => {
      asked = input.value.trim();
      const text = asked;
      const answer = await fetch(`${form.action}?${new URLSearchParams({ q: text })}`);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const hits = page.getElementById("hits");
      if (text !== asked || !hits) return; // a newer question, or the session has ended
      found.replaceChildren(...hits.childNodes);
      found.hidden = false;
    };
    const askSoon = () => {
      clearTimeout(timer);
      timer = setTimeout(ask, 150);
    };
    const move = (event) => {
      if (event.key === "Escape") {
        hide();
        input.focus();
      }
      if (found.hidden || (event.key !== "ArrowDown" && event.key !== "ArrowUp")) return;
      const stops = [input, ...found.querySelectorAll("a")];
      const step = event.key === "ArrowDown" ? 1 : -1;
      const next = stops[stops.indexOf(document.activeElement) + step];
      event.preventDefault();
      next?.focus();
    };
    input.addEventListener("input", askSoon);
    input.addEventListener("focus", askSoon);
    form.addEventListener("keydown", move);
    form.addEventListener("focusout", (event) => {
      if (!form.contains(event.relatedTarget)) setTimeout(hide, 150);
    });
    addEventListener("keydown", (event) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        input.focus();
        input.select();
      }
    });
  };

  addEventListener("DOMContentLoaded", () => {
    const each = (selector, enhance) => document.querySelectorAll(selector).forEach(enhance);
    each("[data-theme-choice]", chooseTheme);
    each("[data-collapse]", collapse);
    each("[data-close]", close);
    each(".numbers table", linkBars);
    each("[data-copy-text], [data-copy-from]", copy);
    each("#changelist-form", selectRows);
    each("form.find", find);
    addEventListener("click", (event) => closeMenus(event.target));
    addEventListener("keydown", (event) => event.key === "Escape" && closeMenus(null));
  });
}

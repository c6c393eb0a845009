// A front end of your own for signing in and for second factors. It is served at /sign-in and /account of the
// origin of Gatehouse, and calls the interaction API and the account API there.
const [, base, page] = location.pathname.match(/^(.*)\/(sign-in|account)$/);
const interaction = new URLSearchParams(location.search).get("interaction");
const main = document.querySelector("main");
const alert = document.querySelector("[role=alert]");

// ── Requests ────────────────────────────────────────────────────────────────────────────────────────────────

class Refusal extends Error {
  constructor({ message, result }) {
    super(message);
    this.result = result; // {reason}, and the ways to confirm
  }
}

async function call(method, path, body) {
  const headers = body && { "Content-Type": "application/json" };
  const answer = await fetch(`${base}/api/${path}`, { method, headers, body: body && JSON.stringify(body) });
  const content = await answer.json();
  if (!answer.ok) throw new Refusal(content);
  return content.result;
}

const ask = (path, body = {}) => call("POST", `interaction/${path}`, interaction ? { ...body, interaction } : body);
const read = (path) => call("GET", `interaction/${path}${interaction ? `?interaction=${interaction}` : ""}`);

async function useDevice(ceremony) {
  const { public_key } = await ask("passkey/options", { ceremony });
  const { parseCreationOptionsFromJSON, parseRequestOptionsFromJSON } = PublicKeyCredential;
  const credential = ceremony.startsWith("set_up")
    ? await navigator.credentials.create({ publicKey: parseCreationOptionsFromJSON(public_key) })
    : await navigator.credentials.get({ publicKey: parseRequestOptionsFromJSON(public_key) });
  return credential.toJSON();
}

// ── Screens ─────────────────────────────────────────────────────────────────────────────────────────────────

function element(tag, fields = {}, ...children) {
  const made = Object.assign(document.createElement(tag), fields);
  made.append(...children);
  return made;
}

function show(title, ...parts) {
  document.title = title;
  main.replaceChildren(element("h1", { textContent: title }), ...parts.filter(Boolean));
}

async function attempt(act) {
  alert.textContent = "";
  try {
    await act();
  } catch (error) {
    alert.textContent = error.message;
  }
}

const button = (label, act) => element("button", { type: "button", textContent: label, onclick: () => attempt(act) });

function form(label, fields, act) {
  const inputs = fields.map(([name, text, more]) => element("label", {}, text, element("input", { name, ...more })));
  const made = element("form", {}, ...inputs, element("button", { textContent: label }));
  made.onsubmit = (event) => {
    event.preventDefault();
    attempt(() => act(Object.fromEntries(new FormData(made))));
  };
  return made;
}

const CODE = ["code", "Code", { autocomplete: "one-time-code", required: true }];
const PASSWORD = ["password", "Password", { type: "password", required: true }];
const NAMES = {
  Totp: "Authenticator app",
  BackupCode: "Backup code",
  WebAuthn: "Passkey",
  EmailVerificationCode: "Email",
  PhoneVerificationCode: "Text message",
};

// ── Signing in ──────────────────────────────────────────────────────────────────────────────────────────────

const STEPS = { second_factor: secondFactor, set_up: setUp, backup_codes: backupCodes };

// Shows what `next` asks for. Without it, the API says whether the browser may go on to `redirect_to`.
async function goOn({ redirect_to, next }) {
  const step = next ?? (await read("next"));
  if (step.step in STEPS) STEPS[step.step](step);
  else location.assign(redirect_to);
}

async function signIn() {
  const experience = await read("sign-in-experience");
  const identifier = ["identifier", "Username, email or phone", { required: true }];
  show(
    "Sign in",
    form("Sign in", [identifier, PASSWORD], async (typed) => goOn(await ask("sign-in", typed))),
    experience.passkey_sign_in?.enabled &&
      button("Sign in with a passkey", async () => {
        const credential = await useDevice("sign_in");
        await goOn(await ask("passkey/verify", { ceremony: "sign_in", credential }));
      }),
    button("Sign in with a code", () => show("Sign in with a code", codeForms("sign_in", goOn))),
    button("Create account", () => register(experience.sign_up)),
    ...experience.social_connectors.map(({ connector_id, name }) => {
      const href = `${base}/social/${connector_id}${location.search}`;
      return element("a", { href, textContent: `Sign in with ${name}` });
    }),
  );
}

// Sends a code and checks it. `then` gets the answer and the address.
function codeForms(interaction_type, then) {
  return form("Send code", [["identifier", "Email or phone", { required: true }]], async ({ identifier }) => {
    const identifier_type = identifier.includes("@") ? "email" : "phone";
    const about = { identifier, identifier_type, interaction_type };
    await ask("verification-code", about);
    show("Enter the code", form("Continue", [CODE], async ({ code }) => {
      await then(await ask("verify-code", { ...about, code }), { [identifier_type]: identifier });
    }));
  });
}

function register({ identifiers, password, verify }) {
  const finish = (proven) => {
    const typed = identifiers.filter((kind) => !(kind in proven)).map((kind) => [kind, kind, { required: true }]);
    const create = async (fields) => goOn(await ask("register", { ...fields, ...proven }));
    show("Create account", form("Create account", password ? [...typed, PASSWORD] : typed, create));
  };
  if (verify && !identifiers.includes("username")) show("Create account", codeForms("register", (_, proven) => finish(proven)));
  else finish({});
}

// ── The second factor of a sign-in ──────────────────────────────────────────────────────────────────────────

// A form or a button for each way. `prove` gets {type, code} or {type, credential}.
function proofs(ways, ceremony, prove) {
  return ways.map(({ type, masked }) => {
    const enter = form(`Use ${NAMES[type]}`, [CODE], ({ code }) => prove({ type, code }));
    if (type === "WebAuthn")
      return button("Use passkey", async () => prove({ type, credential: await useDevice(ceremony) }));
    if (!masked) return element("section", {}, element("h2", { textContent: NAMES[type] }), enter);
    return button(`Send code to ${masked}`, async () => {
      await ask("mfa/code", { type });
      show("Enter the code", enter);
    });
  });
}

const PATHS = { Totp: "mfa/totp", BackupCode: "mfa/backup-code" };

function secondFactor({ methods, skippable }) {
  const prove = async ({ type, code, credential }) => {
    if (credential) return goOn(await ask("passkey/verify", { ceremony: "second_factor", credential }));
    return goOn(await ask(PATHS[type] ?? "mfa/code/verify", type in PATHS ? { code } : { type, code }));
  };
  show("Confirm that it's you", ...proofs(methods, "second_factor", prove), skippable && skip());
}

const skip = () => button("Skip", async () => goOn(await ask("mfa/skip")));

function setUp({ methods, skippable }) {
  const types = methods.map(({ type }) => type);
  const store = async (fields) => goOn(await ask("mfa/set-up/totp/verify", fields));
  const create = async () => {
    const credential = await useDevice("set_up");
    await goOn(await ask("passkey/verify", { ceremony: "set_up", credential }));
  };
  show(
    "Set up a second step",
    types.includes("Totp") && button("Set up authenticator app", () => offer(store)),
    types.includes("WebAuthn") && button("Create passkey", create),
    skippable && skip(),
  );
}

// Shows a new secret. `store` gets {enrolment, code, name}.
async function offer(store) {
  const { secret, qr_code, enrolment } = await ask("mfa/set-up/totp");
  show(
    "Scan the code",
    element("img", { src: qr_code, alt: "QR code" }),
    element("code", { textContent: secret }),
    form("Continue", [["name", "Name"], CODE], (typed) => store({ ...typed, enrolment })),
  );
}

const list = (codes) => element("ul", {}, ...codes.map((code) => element("li", { textContent: code })));

function backupCodes() {
  const create = async () => {
    const { codes, redirect_to } = await ask("mfa/set-up/backup-codes");
    show("Keep these codes", list(codes), button("Continue", () => location.assign(redirect_to)));
  };
  show("Backup codes", button("Show backup codes", create));
}

// ── The account ─────────────────────────────────────────────────────────────────────────────────────────────

const own = (method, path, body) => confirmed(() => call(method, `my-account/${path}`, body));

// Repeats a request after the user has confirmed, as often as the API asks.
async function confirmed(act) {
  try {
    return await act();
  } catch (error) {
    if (error.result?.reason !== "confirm_needed") throw error;
    await confirm(error.result.ways);
    return confirmed(act);
  }
}

function confirm(ways) {
  if (!ways.length) location.assign(`${base}/sign-in`);
  return new Promise((resolve) => {
    const prove = async ({ type, ...proof }) => resolve(await call("POST", "my-account/confirm", proof.code ? { type, ...proof } : proof));
    const isPassword = ways.some(({ type }) => type === "Password");
    const parts = isPassword ? [form("Confirm", [PASSWORD], prove)] : proofs(ways, "confirm", prove);
    show("Confirm that it's you", ...parts);
  });
}

async function account() {
  const factors = await call("GET", "my-account/mfa-verifications");
  const { two_step } = await call("GET", "my-account/mfa-settings");
  const then = (change) => async (fields) => {
    await change(fields);
    await account();
  };
  const add = async (fields) => then(() => own("POST", "mfa-verifications", fields))();
  const rows = factors.filter(({ id }) => id).map(({ id, type, name, remaining }) => {
    const path = `mfa-verifications/${id}`;
    const rename = form("Rename", [["name", "Name", { value: name }]], then((typed) => own("PATCH", path, typed)));
    const title = element("strong", { textContent: remaining ? `${remaining} backup codes` : name || NAMES[type] });
    return element("li", {}, title, ...(remaining ? [] : [rename]), button("Remove", then(() => own("DELETE", path))));
  });
  show(
    "Your account",
    element("ul", {}, ...rows),
    button("Add authenticator app", () => confirmed(() => offer((fields) => add({ type: "Totp", ...fields })))),
    button("Add passkey", async () => {
      const credential = await confirmed(() => useDevice("set_up"));
      await add({ type: "WebAuthn", credential });
    }),
    button("New backup codes", async () => {
      const { codes } = await own("POST", "mfa-verifications", { type: "BackupCode" });
      show("Keep these codes", list(codes), button("Continue", account));
    }),
    button(`Switch two-step sign-in ${two_step ? "off" : "on"}`, then(() => own("PATCH", "mfa-settings", { two_step: !two_step }))),
  );
}

// A sign-in that was begun goes on where it was, also after the page was loaded again.
attempt(async () => {
  if (page === "account") return account();
  const step = await read("next");
  return step.step in STEPS ? STEPS[step.step](step) : signIn();
});

// Passkeys. Pages work without this script: it shows what needs passkeys, and hides the note for browsers without.
//
// An element with data-passkey names a ceremony and the URLs that return its options and take its credential. What
// the script says is in data attributes, so it is in the page's language.

const root = document.querySelector("[data-passkey]");
const field = (name) => document.querySelector(`[name="${name}"]`);
let waiting = null; // the request of the autofill, which another request must abort first

const PLAIN = {
  AbortError: "",
  InvalidStateError: "known",
  SecurityError: "address",
  NotSupportedError: "unsupported",
  ConstraintError: "unsupported",
};

// A front server may have added a policy that keeps passkeys off the page. The error then has the same name as when
// the user has cancelled.
const isForbidden = ({ message }) =>
  ["create", "get"].some((one) => document.featurePolicy?.allowsFeature(`publickey-credentials-${one}`) === false) ||
  /permissions policy|not enabled in this document/i.test(message);
const word = (error) => {
  if (error instanceof Refusal) return error.word;
  if (error.name === "NotAllowedError") return isForbidden(error) ? "policy" : "cancelled";
  return PLAIN[error.name] ?? "failed";
};

const say = (word) => {
  const status = root.querySelector("[data-passkey-status]");
  status.textContent = word && (root.dataset[`say${word[0].toUpperCase()}${word.slice(1)}`] ?? root.dataset.sayFailed);
  status.hidden = !word;
};

// Errors of ours have a word that the page can say. Everything else has failed.
class Refusal extends Error {
  constructor(word) {
    super(word);
    this.word = word;
  }
}

const post = async (url, body) => {
  const { interaction } = root.dataset;
  const token = field("csrfmiddlewaretoken")?.value;
  let answer;
  try {
    answer = await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "application/json", ...(token && { "X-CSRFToken": token }) },
      body: JSON.stringify(interaction ? { ...body, interaction } : body),
      credentials: "same-origin",
    });
  } catch {
    throw new Refusal("offline");
  }
  const content = await answer.json().catch(() => ({}));
  if (answer.ok) return content.result ?? content;
  const reason = content.result?.reason ?? "";
  const isPasswordMissing = content.result?.ways?.[0]?.type === "Password" && field("password");
  if (reason === "confirm_needed" && root.dataset.confirm && !isPasswordMissing) location.assign(root.dataset.confirm);
  const byReason = {
    confirm_needed: isPasswordMissing ? "missing" : "again",
    passkey_refused: "refused",
    already_enrolled: "known",
    too_many_factors: "many",
    suspended: "suspended",
  };
  const isSignIn = body.ceremony === "sign_in"; // 403 only at another origin than the tenant's
  const byStatus = { 401: "password", 403: isSignIn ? "address" : "again", 404: "over", 429: "often" };
  throw new Refusal(byReason[reason] ?? byStatus[answer.status] ?? "failed");
};

// Browsers before 2025 lack the functions for JSON.
const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (one) => one.charCodeAt(0));
const text = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
const withBytes = (list) => list?.map((one) => ({ ...one, id: bytes(one.id) }));

const parse = (options, creates) => {
  const native = creates ? "parseCreationOptionsFromJSON" : "parseRequestOptionsFromJSON";
  if (PublicKeyCredential[native]) return PublicKeyCredential[native](options);
  const parsed = { ...options, challenge: bytes(options.challenge) };
  if (creates) {
    parsed.user = { ...options.user, id: bytes(options.user.id) };
    parsed.excludeCredentials = withBytes(options.excludeCredentials);
  } else parsed.allowCredentials = withBytes(options.allowCredentials);
  return parsed;
};

const toJSON = (credential) => {
  try {
    return credential.toJSON();
  } catch {} // missing, or broken by the extension of a password manager
  const { response } = credential;
  const sent = {};
  for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"])
    if (response[name]) sent[name] = text(response[name]);
  if (response.getTransports) sent.transports = response.getTransports();
  const clientExtensionResults = { credProps: credential.getClientExtensionResults().credProps };
  return { id: credential.id, rawId: credential.id, type: credential.type, response: sent, clientExtensionResults };
};

const ceremonyOf = (button) => button?.dataset.ceremony ?? root.dataset.passkey;
const creates = (ceremony) => ceremony.startsWith("set_up");

// Asks the browser for a credential and sends it. A wait for the autofill is quiet: it says nothing by itself.
const run = async (ceremony, { mediation, signal } = {}) => {
  const { public_key } = await post(root.dataset.options, { ceremony });
  const publicKey = parse(public_key, creates(ceremony));
  const credential = creates(ceremony)
    ? await navigator.credentials.create({ publicKey, signal })
    : await navigator.credentials.get({ publicKey, signal, ...(mediation && { mediation }) });
  root.setAttribute("aria-busy", "true");
  const body = { ceremony, credential: toJSON(credential) };
  if (creates(ceremony)) {
    if (field("name")?.value) body.name = field("name").value;
    if (field("password")?.value) body.password = field("password").value;
  } else {
    if (field("keep_signed_in")?.checked) body.keep_signed_in = true;
    if (field("remember")?.checked) body.remember = true;
  }
  const next = await post(root.dataset.verify, body);
  location.assign(root.dataset.next ?? next.redirect_to);
};

const stop = () => {
  waiting?.abort();
  waiting = null;
};

const attempt = async (button) => {
  stop();
  say("");
  button.disabled = true;
  try {
    await run(ceremonyOf(button));
  } catch (error) {
    say(word(error));
    root.removeAttribute("aria-busy");
    fill();
  } finally {
    button.disabled = false;
  }
};

// The autofill offers passkeys in the field for the identifier. A challenge lives for ten minutes.
const fill = async () => {
  if (!("autofill" in root.dataset) || !(await PublicKeyCredential.isConditionalMediationAvailable?.())) return;
  stop();
  const controller = new AbortController();
  waiting = controller;
  const again = setTimeout(fill, 9 * 60_000);
  controller.signal.addEventListener("abort", () => clearTimeout(again));
  try {
    await run(root.dataset.passkey, { mediation: "conditional", signal: controller.signal });
  } catch (error) {
    root.removeAttribute("aria-busy");
    if (error instanceof Refusal && waiting === controller && error.word !== "offline") say(error.word);
  }
};

// Tells the device which passkeys the account has. Passkeys of other tenants have other user handles, so they stay.
const signal = () => {
  const list = document.querySelector("[data-passkeys-of]");
  if (!list || !window.PublicKeyCredential) return;
  const { passkeysOf: userId, rpId, userName: name, displayName } = list.dataset;
  const allAcceptedCredentialIds = [...list.querySelectorAll("[data-credential]")].map((one) => one.dataset.credential);
  PublicKeyCredential.signalAllAcceptedCredentials?.({ rpId, userId, allAcceptedCredentialIds }).catch(() => {});
  PublicKeyCredential.signalCurrentUserDetails?.({ rpId, userId, name, displayName }).catch(() => {});
};

if (root && window.PublicKeyCredential && isSecureContext) {
  for (const shown of document.querySelectorAll("[data-needs-passkeys]")) shown.hidden = false;
  for (const note of document.querySelectorAll("[data-no-passkeys]")) note.hidden = true;
  for (const button of root.querySelectorAll("[data-ceremony]")) button.addEventListener("click", () => attempt(button));
  addEventListener("submit", stop);
  addEventListener("pagehide", stop);
  fill();
} else {
  for (const button of document.querySelectorAll(".reserved")) button.classList.remove("reserved");
  for (const note of document.querySelectorAll("[data-no-passkeys]")) note.dataset.shown = "";
}
signal();

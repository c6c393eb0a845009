// AppAuth leaves ".js" out of its imports, which bundlers forgive and Node does not.
//
// node --import ./extensions.mjs program.mjs

import { register } from "node:module";

const hook = `export async function resolve(name, context, next) {
  try {
    return await next(name, context);
  } catch (error) {
    if (error.code === "ERR_UNSUPPORTED_DIR_IMPORT") return next(name + "/index.js", context);
    if (error.code === "ERR_MODULE_NOT_FOUND") return next(name + ".js", context);
    throw error;
  }
}`;

register(`data:text/javascript,${encodeURIComponent(hook)}`);

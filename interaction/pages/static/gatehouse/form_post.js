// Sends the authorization response to the application. Without this script the button does.
document.forms[0].submit();

// The same call as a command; the server writes the first ones, this keeps them true while typing.

export function requestBody(argumentsText, choices) {
  const parts = [`"arguments": ${argumentsText}`];
  for (const [name, value] of Object.entries(choices)) {
    if (value) parts.push(`${JSON.stringify(name)}: ${JSON.stringify(value)}`);
  }
  return `{${parts.join(", ")}}`;
}

// Inside single quotes a POSIX shell changes nothing; a quote itself closes, is written, reopens.
export function shellQuoted(text) {
  return `'${text.replaceAll("'", `'"'"'`)}'`;
}

export function curlCommand(url, body) {
  return [
    `curl -sS ${shellQuoted(url)} \\`,
    `  -H "Authorization: Bearer $OPENJARVIS_TOKEN" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  --data-raw ${shellQuoted(body)}`,
  ].join("\n");
}

export function pythonProgram(url, body) {
  return `import os, urllib.request

request = urllib.request.Request(
    ${pythonString(url)},
    data=${pythonString(body)}.encode(),
    headers={
        "Authorization": "Bearer " + os.environ["OPENJARVIS_TOKEN"],
        "Content-Type": "application/json",
    },
)
print(urllib.request.urlopen(request).read().decode())
`;
}

// A JSON string is a Python string too, once surrogate pairs are left as the characters they are.
function pythonString(text) {
  return JSON.stringify(text);
}

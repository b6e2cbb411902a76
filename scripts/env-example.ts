import { writeFileSync } from 'node:fs';
import { type Variable, VARIABLES } from '../packages/server/src/main/variables.ts';

const FILE = new URL('../.env.example', import.meta.url);
const WIDTH = 118;

/** `.env.example`, of what the configuration says of itself: a file for `docker compose`, for `node --env-file` and for a shell. */
export function envExample(): string {
  const groups = [...new Set(VARIABLES.map(({ group }) => group))];
  return [...HEAD, ...groups.flatMap((group) => ['', `# --- ${group} ---`, ...groupLines(group)]), ''].join(
    '\n',
  );
}

const HEAD = [
  '# What Beckon reads from its environment, written by scripts/env-example.ts. Copy it to `.env`, and take the # off what you set.',
  '# Nothing here is needed to try it: without any of it, it runs on this machine, with a database of its own.',
  '#',
  '# compose.yaml reads `.env` by itself. Without Docker:  set -a; . ./.env; set +a; npm start',
  '# A variable that is set to nothing counts as not set. Where `…_FILE` is named, a file may hold the value instead.',
  '#',
  '# For people to reach it:       PUBLIC_URL, HOST, and TRUST_PROXY or own TLS.',
  '# With a PostgreSQL of yours:   DATABASE_URL, SECRET_KEY.',
  '# For letters to leave:         SMTP_URL, MAIL_FROM, PUBLIC_URL.',
];

function groupLines(group: Variable['group']): string[] {
  return VARIABLES.filter((variable) => variable.group === group).flatMap((variable) => [
    '',
    ...lines(variable),
  ]);
}

function lines({ name, about, unset, example, secret, generate }: Variable): string[] {
  const more = [
    about,
    ...(unset === null ? [] : [`Not set: ${unset}.`]),
    ...(secret ? [`Or ${name}_FILE.`] : []),
    ...(generate ? [`To make one: ${generate}`] : []),
  ];
  // What is to be made is not there to be copied.
  const value = generate ? '' : example;
  return [...wrap(more.join(' ').replaceAll('`', '')), `#${name}=${quoted(value)}`];
}

function quoted(value: string): string {
  return /[\s#]/.test(value) ? `"${value}"` : value;
}

function wrap(text: string): string[] {
  const rows: string[] = [];
  let row = '#';
  for (const word of text.split(/\s+/)) {
    if (row.length + 1 + word.length > WIDTH) {
      rows.push(row);
      row = '#';
    }
    row += ` ${word}`;
  }
  return [...rows, row];
}

if (import.meta.main) writeFileSync(FILE, envExample());

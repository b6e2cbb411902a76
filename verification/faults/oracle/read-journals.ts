import { createReadStream, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Entry, World } from '../journal.ts';
import type { Answer, Facts, Request, Try } from './facts.ts';

export type Journalled = Omit<Facts, 'rows'>;

/** Reads line by line, because the journals of a long run are too large for memory. */
export async function readHistory(dir: string): Promise<Journalled> {
  const entries: Entry[] = [];
  for (const name of readdirSync(dir).filter((one) => one.endsWith('.jsonl')))
    for await (const line of createInterface({ input: createReadStream(join(dir, name)) })) {
      const entry = parse(line);
      if (entry) entries.push(entry);
    }
  const world = JSON.parse(readFileSync(join(dir, 'world.json'), 'utf8')) as World;
  return historyOf(world, entries);
}

/** The last line of a killed writer may be incomplete. It was not on the disk when it counted, so it is ignored. */
function parse(line: string): Entry | null {
  try {
    return JSON.parse(line) as Entry;
  } catch {
    return null;
  }
}

export function historyOf(world: World, entries: Entry[]): Journalled {
  const history: Journalled = {
    world,
    quietAt: null,
    requests: [],
    acts: [],
    emails: [],
    hooks: [],
    faults: [],
  };
  const answers = new Map<string, Answer>();
  const requests = new Map<string, Request>();
  for (const entry of entries.toSorted((a, b) => a.at - b.at)) {
    if (entry.kind === 'begin') begin(requests, entry);
    else if (entry.kind === 'end') answers.set(entry.id, answerOf(entry));
    else keep(history, entry);
  }
  for (const { tries } of requests.values())
    for (const one of tries) one.answer = answers.get(one.id) ?? null;
  return { ...history, requests: [...requests.values()] };
}

function answerOf({ at, status, body, replayed }: Extract<Entry, { kind: 'end' }>): Answer {
  return { at, status, body, replayed };
}

function keep(history: Journalled, entry: Exclude<Entry, { kind: 'begin' | 'end' }>): void {
  switch (entry.kind) {
    case 'act':
      return void history.acts.push(entry);
    case 'email':
      return void history.emails.push(entry);
    case 'hook':
      return void history.hooks.push(entry);
    case 'quiet':
      history.quietAt = entry.at;
      return;
    case 'fault':
    case 'recovered':
    case 'held':
    case 'let_go':
      return void history.faults.push(entry);
    case 'lost':
      // It only records that no response came.
      return;
    default:
      entry satisfies never;
  }
}

function begin(requests: Map<string, Request>, entry: Extract<Entry, { kind: 'begin' }>): void {
  const { id, at, key, to, intent, request, project, path, idempotencyKey, body, records } = entry;
  const one: Try = { id, at, key, to, intent, answer: null };
  const known = requests.get(request);
  if (known) known.tries.push(one);
  else requests.set(request, { request, project, path, idempotencyKey, body, records, intent, tries: [one] });
}

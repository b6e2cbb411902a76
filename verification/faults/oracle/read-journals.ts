import { createReadStream, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Entry, World } from '../journal.ts';
import type { Answer, Facts, Request, Attempt } from './facts.ts';

export type JournalFacts = Omit<Facts, 'rows'>;

/** Reads line by line, because the journals of a long run are too large for memory. */
export async function readHistory(dir: string): Promise<JournalFacts> {
  const entries: Entry[] = [];
  for (const name of readdirSync(dir).filter((file) => file.endsWith('.jsonl')))
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

export function historyOf(world: World, entries: Entry[]): JournalFacts {
  const history: JournalFacts = {
    world,
    quietAt: null,
    requests: [],
    actions: [],
    receivedEmails: [],
    hooks: [],
    reports: [],
    acknowledged: new Set(),
    faults: [],
  };
  const answers = new Map<string, Answer>();
  const requests = new Map<string, Request>();
  for (const entry of entries.toSorted((a, b) => a.at - b.at)) {
    if (entry.kind === 'begin') begin(requests, entry);
    else if (entry.kind === 'end') answers.set(entry.id, answerOf(entry));
    else keep(history, entry);
  }
  for (const { attempts } of requests.values())
    for (const attempt of attempts) attempt.answer = answers.get(attempt.id) ?? null;
  return { ...history, requests: [...requests.values()] };
}

function answerOf({ at, status, body, replayed }: Extract<Entry, { kind: 'end' }>): Answer {
  return { at, status, body, replayed };
}

function keep(history: JournalFacts, entry: Exclude<Entry, { kind: 'begin' | 'end' }>): void {
  switch (entry.kind) {
    case 'action':
      return void history.actions.push(entry);
    case 'email':
      return void history.receivedEmails.push(entry);
    case 'hook':
      return void history.hooks.push(entry);
    case 'report':
      return void history.reports.push(entry);
    case 'reported':
      return void history.acknowledged.add(entry.id);
    case 'quiet':
      history.quietAt = entry.at;
      return;
    case 'fault':
    case 'recovered':
    case 'held':
    case 'released':
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
  const attempt: Attempt = { id, at, key, to, intent, answer: null };
  const existing = requests.get(request);
  if (existing) existing.attempts.push(attempt);
  else
    requests.set(request, {
      request,
      project,
      path,
      idempotencyKey,
      body,
      records,
      intent,
      attempts: [attempt],
    });
}

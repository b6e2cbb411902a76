import { setTimeout as pause } from 'node:timers/promises';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../../../packages/server/src/platform/crypto/hash.ts';
import { readEmailToken } from '../../../packages/server/src/platform/crypto/email-token.ts';
import {
  type FakeMode,
  type FakeRelay,
  startFakeRelay,
} from '../../../packages/server/testing/servers/relays/fake-relay.ts';
import type { FakeEmail, FakeEvent } from '../../../packages/server/testing/servers/relays/provider.ts';
import { openJournal, type World } from '../journal.ts';
import { between, pick, randomOf } from '../random.ts';
import { RELAY_KINDS, TOKEN_KEYS } from '../stage/world.ts';
import { argument, readCommands, reportReady } from './commands.ts';

/**
 * Two providers with an API. They delay and lose answers, refuse emails and limit their rate. They report what became of each email, late,
 * several times and in any order. An email is on the disk before it is answered, and a report before it is sent.
 */
const dir = argument('DIR');
const targets = argument('TARGETS').split(',');
const journal = openJournal(dir, 'relays');
const random = randomOf(`${argument('SEED')} relays`);
let isFine = false;

/** How often each fate happens. The rest is accepted. */
const FATES: [FakeMode, number][] = [
  ['server_error', 0.03],
  ['rate_limit', 0.01],
  ['cut', 0.03],
  ['cut_after', 0.03],
  ['hang', 0.005],
  ['hang_after', 0.005],
  ['refuse_email', 0.005],
];
const DELAY_MS: [number, number] = [0, 400];
const REPORTED_AFTER_MS: [number, number] = [10, 3_000];
const BOUNCED = 0.03;
const REPEATED = 0.3;
const POST_WITHIN_MS = 5_000;
const AGAIN_MS = 500;

function fate(): FakeMode {
  if (isFine) return 'accept';
  let share = random();
  for (const [mode, chance] of FATES) if ((share -= chance) < 0) return mode;
  return 'accept';
}

const ACCEPTED: ReadonlySet<FakeMode> = new Set(['accept', 'cut_after', 'hang_after']);

function open(kind: (typeof RELAY_KINDS)[number], fake: FakeRelay): void {
  fake.decide = (email) => {
    const mode = fate();
    fake.latencyMs = isFine ? 0 : between(...DELAY_MS, random);
    const isRepeated = email.key !== null && fake.emails.some(({ key }) => key === email.key);
    if (!ACCEPTED.has(mode) || isRepeated) return mode;
    const emailId =
      readEmailToken(email.token.replace('-', '.'), 'relay', TOKEN_KEYS)?.emailId ?? email.token;
    journal.write({
      kind: 'email',
      at: Date.now(),
      messageId: emailId,
      from: kind,
      to: [email.to],
      digest: sha256(email.content),
      replyStatus: mode === 'accept' ? 250 : null,
    });
    void report(kind, { fake, token: email.token, emailId });
    return mode;
  };
}

type Reported = { fake: FakeRelay; token: string; emailId: string };

/** Reports the delivery or the bounce of an email, until it is acknowledged, and sometimes again. */
async function report(kind: (typeof RELAY_KINDS)[number], { fake, token, emailId }: Reported): Promise<void> {
  const outcome = random() < BOUNCED ? 'bounced' : 'delivered';
  // The fake of Postmark numbers its bounces by the first characters of this id, which are the same in ids made within hours.
  const id = sha256(`${emailId} ${outcome}`);
  journal.write({ kind: 'report', at: Date.now(), id, email: emailId, outcome });
  await pause(isFine ? 0 : between(...REPORTED_AFTER_MS, random));
  let email: FakeEmail | undefined;
  while (!(email = fake.emails.find((accepted) => accepted.token === token))) await pause(AGAIN_MS);
  const text = outcome === 'bounced' ? '550 5.1.1 No such user' : '250 ok';
  const event: FakeEvent = { id, kind: outcome, email, text, at: Date.now() };
  for (let left = random() < REPEATED ? 2 : 1; left > 0; left -= 1) {
    while (!(await post(kind, fake, event)))
      await pause(isFine ? AGAIN_MS / 5 : between(100, AGAIN_MS, random));
    if (left === 1) journal.write({ kind: 'reported', at: Date.now(), id });
  }
}

async function post(kind: (typeof RELAY_KINDS)[number], fake: FakeRelay, event: FakeEvent): Promise<boolean> {
  const relay = relayIds()[kind];
  const { headers, body } = fake.provider.hook(event, Date.now());
  // Providers send from many addresses, so one that is blocked after requests with a stale signature delays no other.
  const from = `10.${[0, 0, 0].map(() => between(0, 255, random)).join('.')}`;
  try {
    const response = await fetch(`${pick(targets, random)}/hooks/relays/${relay}`, {
      method: 'POST',
      headers: { ...headers, 'x-forwarded-proto': 'https', 'x-forwarded-for': from },
      body,
      signal: AbortSignal.timeout(POST_WITHIN_MS),
    });
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    return false;
  }
}

let known: World['relays'] | null = null;
function relayIds(): World['relays'] {
  known ??= (JSON.parse(readFileSync(join(dir, 'world.json'), 'utf8')) as World).relays;
  return known;
}

const facts: Record<string, string> = {};
for (const kind of RELAY_KINDS) {
  const fake = await startFakeRelay(kind);
  open(kind, fake);
  facts[kind] = new URL(fake.url).port;
}
readCommands((line) => {
  if (line === 'fine') isFine = true;
});
reportReady(facts);

import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { findText } from '../../packages/server/testing/oracles/find-text.ts';
import type { Attack, Finding, Target } from './attack.ts';
import { dashboardRoutes, ENDLESS, liftLimits, newToken, publicRoutes } from './routes.ts';
import { hasTool } from './run-tool.ts';
import { JSON_BODY, OWNER, type Victim } from './victim.ts';

const CANARY = 'canary-7f3a91c2';
const PLANTED = {
  SECRET_KEY: `${CANARY}-secret-key-0123456789abcdef`,
  AI_API_KEY: `${CANARY}-model-key`,
  smtp: `${CANARY}-smtp-password`,
};

/** `inData`: it must not be readable in the database either. */
type Secret = { name: string; text: string; inData: boolean };

export const s14: Attack = {
  id: 'S14',
  title: 'secrets: planted everywhere, and looked for in the log, in every answer and in the database',
  passLine:
    '0 planted secrets in the log or in an answer that refuses; none readable in any column of the database',
  quick: true,
  async run(target) {
    const relay = await echoingRelay();
    const victim = await target.own({
      SECRET_KEY: PLANTED.SECRET_KEY,
      AI_BASE_URL: 'http://127.0.0.1:9/v1',
      AI_API_KEY: PLANTED.AI_API_KEY,
      AI_MODEL: 'small-1',
      SMTP_URL: `smtp://shop:${PLANTED.smtp}@127.0.0.1:${relay.port}`,
      MAIL_FROM: 'beckon@acme.example',
      LOG_LEVEL: 'debug',
    });
    try {
      const secrets = await plant(victim);
      target.count('secrets planted', secrets.length);
      const answers = await provoke(target, victim, secrets);
      return [
        ...inAnswers(answers, secrets),
        ...inLog(target, victim, secrets),
        ...(await inDatabase(target, victim, secrets)),
      ];
    } finally {
      relay.close();
    }
  },
};

/** Starts a relay that refuses every sign-in and repeats the credentials in its response, as some relays do. */
async function echoingRelay(): Promise<{ port: number; close(): void }> {
  const server = createServer((socket) => {
    socket.setEncoding('latin1');
    socket.on('error', () => socket.destroy());
    socket.write('220 relay\r\n');
    socket.on('data', (text: string) => {
      const line = text.trim();
      if (/^EHLO/i.test(line)) return socket.write('250-relay\r\n250 AUTH PLAIN LOGIN\r\n');
      const said = /^AUTH PLAIN (\S+)/i.exec(line)?.[1] ?? line;
      return socket.write(
        `535 5.7.8 no: ${Buffer.from(said, 'base64').toString('latin1').replaceAll('\0', ' ')} ${line}\r\n`,
      );
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() };
}

async function plant(victim: Victim): Promise<Secret[]> {
  const { projectId } = victim;
  const key = await victim.newKey(projectId, 'canary');
  await liftLimits(victim);
  const hook = await victim.owner(`POST /projects/${projectId}/webhooks`, {
    url: 'https://hooks.canary.test/in',
  });
  const webhook = (hook.json as { data: { secret: string } }).data.secret;
  const token = await newToken(victim);
  const session = decodeURIComponent(victim.cookie.split('=')[1] ?? '');
  return [
    ...Object.entries(PLANTED).map(([name, text]) => ({ name, text, inData: true })),
    { name: 'an API key', text: key.secret, inData: true },
    { name: 'the secret of a webhook', text: webhook, inData: true },
    { name: 'a personal token', text: token, inData: true },
    { name: 'the owner’s password', text: OWNER.password, inData: true },
    // The part before the dot is the id, which the table stores. The signature behind it makes the session valid.
    { name: 'the seal of a session', text: session.slice(session.indexOf('.') + 1), inData: true },
    { name: 'a whole session', text: session, inData: true },
    // User data belongs to the customer: it is expected in the database, but not in the log.
    { name: 'a person’s address', text: `${CANARY}@people.test`, inData: false },
    { name: 'a person’s trait', text: `${CANARY}-trait`, inData: false },
  ];
}

type Answer = { what: string; status: number; text: string };

/** Puts every secret where it does not belong: in paths, queries, bodies, headers and emails that fail. */
async function provoke(target: Target, victim: Victim, secrets: Secret[]): Promise<Answer[]> {
  const answers: Answer[] = [];
  const ask = async (what: string, headers: Record<string, string>, body?: string): Promise<void> => {
    const { status, text } = await victim.send(what, { headers, ...(body === undefined ? {} : { body }) });
    target.count('requests with secrets in wrong places');
    answers.push({ what: what.slice(0, 60), status, text });
  };
  const key = secrets.find(({ name }) => name === 'an API key')?.text ?? '';
  const bearer = { ...JSON_BODY, authorization: `Bearer ${key}` };
  const routes = (await publicRoutes(victim)).filter(({ path }) => path.startsWith('/api/'));
  const person = {
    external_user_id: `${CANARY}-user`,
    email: `${CANARY}@people.test`,
    traits: { note: `${CANARY}-trait` },
  };
  await ask('POST /api/v1/users', bearer, JSON.stringify(person));
  for (const { text } of secrets) {
    const put = encodeURIComponent(text);
    for (const { method, path } of routes) {
      await ask(`${method} ${path}?api_key=${put}`, JSON_BODY, '{}');
      await ask(`${method} ${path}`, { ...JSON_BODY, authorization: `Basic ${btoa(text)}` }, '{}');
      await ask(
        `${method} ${path}`,
        { ...bearer, 'idempotency-key': `${text} ` },
        JSON.stringify({ [text]: text, email: text }),
      );
      await ask(`${method} ${path}`, bearer, `{"external_user_id":"${text}`);
      await ask(`${method} ${path}`, { ...bearer, 'content-encoding': text, 'content-type': text }, '{}');
    }
    await ask(`GET /${put}`, { cookie: `beckon_session=${put}` });
    await ask(`GET /o/${put}.gif`, { 'user-agent': text, referer: `https://x.test/?k=${put}` });
    await ask(
      'POST /api/dashboard/sign-in',
      { ...JSON_BODY, origin: victim.url },
      JSON.stringify({ email: `${CANARY}@people.test`, password: text }),
    );
    await ask('POST /api/dashboard/device', JSON_BODY, JSON.stringify({ label: text, scopes: [text] }));
  }
  const reads = dashboardRoutes.filter(({ key: one }) => one.startsWith('GET ') && !ENDLESS.has(one));
  const session = { cookie: victim.cookie, origin: victim.url };
  for (const { key: one } of reads) {
    const path = one.slice(4).replace(':project', String(victim.projectId)).replaceAll(/:\w+/g, CANARY);
    await ask(`GET /api/dashboard${path}?${CANARY}=1`, session);
  }
  // The relay refuses with the password in its response.
  await victim.owner(`POST /projects/${victim.projectId}/invites`, {
    email: 'bob@example.com',
    role: 'viewer',
  });
  await ask(
    'POST /api/dashboard/forgot',
    { ...JSON_BODY, origin: victim.url },
    JSON.stringify({ email: OWNER.email }),
  );
  await victim.owner(`POST /projects/${victim.projectId}/users/${CANARY}-user/erase`, { confirm: 'wrong' });
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  return answers;
}

/** Returns all encodings in which the text may have been written. */
function forms(text: string): string[] {
  return [
    text,
    encodeURIComponent(text),
    JSON.stringify(text).slice(1, -1),
    btoa(text),
    Buffer.from(text).toString('base64url'),
    Buffer.from(text).toString('hex'),
  ];
}

/** Finds secrets in error responses. Text that the caller sent may come back as the name of a field. */
function inAnswers(answers: Answer[], secrets: Secret[]): Finding[] {
  const own = new Set(Object.values(PLANTED));
  return answers.flatMap(({ what, status, text }) =>
    secrets
      .filter(({ text: secret }) => status >= 400 && forms(secret).some((form) => text.includes(form)))
      // An error names an invalid key of an object, which the caller wrote.
      .filter(({ text: secret }) => !own.has(secret) || status >= 500 || !/"field":"/.test(text))
      .map(({ name }): Finding => ({
        severity: 'medium',
        what: `${name} in an answer of ${status} to ${what}`,
        evidence: text,
      })),
  );
}

function inLog(target: Target, victim: Victim, secrets: Secret[]): Finding[] {
  const lines = victim.log().split('\n').filter(Boolean);
  target.count('lines of the log', lines.length);
  return secrets.flatMap(({ name, text }) => {
    const line = lines.find((one) => forms(text).some((form) => one.includes(form)));
    return line === undefined
      ? []
      : [{ severity: 'high' as const, what: `${name} in the log`, evidence: line }];
  });
}

async function inDatabase(target: Target, victim: Victim, secrets: Secret[]): Promise<Finding[]> {
  return victim.database(async (client) => {
    const query = async (text: string, values?: unknown[]): Promise<unknown[]> =>
      (await client.query(text, values)).rows as unknown[];
    const findings: Finding[] = [];
    for (const { name, text } of secrets.filter(({ inData }) => inData)) {
      const places = await findText({ query } as never, [text]);
      target.count('searches of the whole database');
      // Every hit is a finding, including a text that was sent in a wrong field and stored there.
      for (const place of places)
        findings.push({ severity: 'high', what: `${name} stands readable in ${place}` });
    }
    if (!hasTool('pg_dump'))
      target.note('every column was read as text; pg_dump is not installed and not needed');
    return findings;
  });
}

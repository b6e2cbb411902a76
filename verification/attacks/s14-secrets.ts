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
  passLine: '0 planted secrets in the log or in an error response; none in plain text in any database column',
  quick: true,
  async run(target) {
    const relay = await echoingRelay();
    const victim = await target.ownVictim({
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
      const value = /^AUTH PLAIN (\S+)/i.exec(line)?.[1] ?? line;
      return socket.write(
        `535 5.7.8 no: ${Buffer.from(value, 'base64').toString('latin1').replaceAll('\0', ' ')} ${line}\r\n`,
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
    { name: 'the signature of a session', text: session.slice(session.indexOf('.') + 1), inData: true },
    { name: 'a whole session', text: session, inData: true },
    // User data belongs to the customer: it is expected in the database, but not in the log.
    { name: 'a person’s address', text: `${CANARY}@people.test`, inData: false },
    { name: 'a person’s trait', text: `${CANARY}-trait`, inData: false },
  ];
}

type Answer = { requestLine: string; status: number; text: string };

/** Puts every secret where it does not belong: in paths, queries, bodies, headers and emails that fail. */
async function provoke(target: Target, victim: Victim, secrets: Secret[]): Promise<Answer[]> {
  const answers: Answer[] = [];
  const addAnswer = async (
    requestLine: string,
    headers: Record<string, string>,
    body?: string,
  ): Promise<void> => {
    const { status, text } = await victim.send(requestLine, {
      headers,
      ...(body === undefined ? {} : { body }),
    });
    target.count('requests with secrets in wrong places');
    answers.push({ requestLine: requestLine.slice(0, 60), status, text });
  };
  const key = secrets.find(({ name }) => name === 'an API key')?.text ?? '';
  const bearer = { ...JSON_BODY, authorization: `Bearer ${key}` };
  const routes = (await publicRoutes(victim)).filter(({ path }) => path.startsWith('/api/'));
  const person = {
    external_user_id: `${CANARY}-user`,
    email: `${CANARY}@people.test`,
    traits: { note: `${CANARY}-trait` },
  };
  await addAnswer('POST /api/v1/users', bearer, JSON.stringify(person));
  for (const { text } of secrets) {
    const encoded = encodeURIComponent(text);
    for (const { method, path } of routes) {
      await addAnswer(`${method} ${path}?api_key=${encoded}`, JSON_BODY, '{}');
      await addAnswer(`${method} ${path}`, { ...JSON_BODY, authorization: `Basic ${btoa(text)}` }, '{}');
      await addAnswer(
        `${method} ${path}`,
        { ...bearer, 'idempotency-key': `${text} ` },
        JSON.stringify({ [text]: text, email: text }),
      );
      await addAnswer(`${method} ${path}`, bearer, `{"external_user_id":"${text}`);
      await addAnswer(
        `${method} ${path}`,
        { ...bearer, 'content-encoding': text, 'content-type': text },
        '{}',
      );
    }
    await addAnswer(`GET /${encoded}`, { cookie: `beckon_session=${encoded}` });
    await addAnswer(`GET /o/${encoded}.gif`, { 'user-agent': text, referer: `https://x.test/?k=${encoded}` });
    await addAnswer(
      'POST /api/dashboard/sign-in',
      { ...JSON_BODY, origin: victim.url },
      JSON.stringify({ email: `${CANARY}@people.test`, password: text }),
    );
    await addAnswer('POST /api/dashboard/device', JSON_BODY, JSON.stringify({ label: text, scopes: [text] }));
  }
  const reads = dashboardRoutes.filter(({ key: route }) => route.startsWith('GET ') && !ENDLESS.has(route));
  const session = { cookie: victim.cookie, origin: victim.url };
  for (const { key: route } of reads) {
    const path = route.slice(4).replace(':project', String(victim.projectId)).replaceAll(/:\w+/g, CANARY);
    await addAnswer(`GET /api/dashboard${path}?${CANARY}=1`, session);
  }
  // The relay refuses with the password in its response.
  await victim.owner(`POST /projects/${victim.projectId}/invites`, {
    email: 'bob@example.com',
    role: 'viewer',
  });
  await addAnswer(
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
  const planted = new Set(Object.values(PLANTED));
  return answers.flatMap(({ requestLine, status, text }) =>
    secrets
      .filter(({ text: secret }) => status >= 400 && forms(secret).some((form) => text.includes(form)))
      // An error names an invalid key of an object, which the caller wrote.
      .filter(({ text: secret }) => !planted.has(secret) || status >= 500 || !/"field":"/.test(text))
      .map(({ name }): Finding => ({
        severity: 'medium',
        title: `${name} in an answer of ${status} to ${requestLine}`,
        evidence: text,
      })),
  );
}

function inLog(target: Target, victim: Victim, secrets: Secret[]): Finding[] {
  const lines = victim.log().split('\n').filter(Boolean);
  target.count('lines of the log', lines.length);
  return secrets.flatMap(({ name, text }) => {
    const line = lines.find((candidate) => forms(text).some((form) => candidate.includes(form)));
    return line === undefined
      ? []
      : [{ severity: 'high' as const, title: `${name} in the log`, evidence: line }];
  });
}

async function inDatabase(target: Target, victim: Victim, secrets: Secret[]): Promise<Finding[]> {
  return victim.database(async (client) => {
    const query = async (text: string, values?: unknown[]): Promise<unknown[]> =>
      (await client.query(text, values)).rows as unknown[];
    const findings: Finding[] = [];
    for (const { name, text } of secrets.filter(({ inData }) => inData)) {
      const places = await findText({ query } as never, [text]);
      target.count('full database searches');
      // Every hit is a finding, including a text that was sent in a wrong field and stored there.
      for (const place of places)
        findings.push({ severity: 'high', title: `${name} is readable in ${place}` });
    }
    if (!hasTool('pg_dump')) target.note('every column was read as text, because pg_dump is not installed');
    return findings;
  });
}

import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { testDatabase } from '../../../../testing/factories/database.ts';
import {
  testHasher,
  testMail,
  testSendServices,
  TOKEN_KEYS,
} from '../../../../testing/factories/send-services.ts';

import { type Clock, systemClock } from '../../../platform/time/clock.ts';
import { idMaker } from '../../../platform/ids.ts';
import { silentLog } from '../../../platform/log.ts';
import { type Database, openDatabase } from '../../../platform/db/database.ts';
import { createProject } from '../../administration/create-project.ts';
import { keepInside } from '../../review/test-inbox/test-inbox.ts';
import type { TransportEmail } from '../../delivery/transport.ts';
import { addEndpoint } from '../../webhooks/endpoints/change-endpoint.ts';
import { makeDemo, removeDemos } from './demo.ts';

async function opened(clock: Clock): Promise<{ db: Database; close(): Promise<void> }> {
  const database = await testDatabase();
  const db = await openDatabase({ connection: database.connection, clock, log: silentLog });
  const close = async (): Promise<void> => {
    await db.close();
    await database.drop();
  };
  return { db, close };
}

const count = async (db: Database, from: string): Promise<number> => {
  const [row] = await db.query<{ count: number }>(`SELECT count(*) AS count FROM beckon.${from}`);
  return row?.count ?? 0;
};

test('simulates a demo, copies it whole, leaves other projects alone, and removes it completely', async () => {
  const fixture = await opened(systemClock);
  const { db } = fixture;
  onTestFinished(() => fixture.close());
  const other = await createProject(db, { name: 'Acme' });
  const before = await rowsOf(db);
  const deps = {
    db,
    openScratch: opened,
    pepper: { current: Buffer.alloc(32, 7), previous: null },
    tokenKeys: TOKEN_KEYS,
    hasher: testHasher,
    encrypter: testMail().encrypter,
    mail: testMail().mail,
  };
  const more = {
    sendServices: testSendServices(),
    log: silentLog,
    organizationId: null,
    onProgress: () => {},
  };
  const { project } = await makeDemo({ ...deps, ...more }, 12);
  expect(project).toMatchObject({ name: 'Harbour', id: other.id + 1 });
  const mine = `WHERE project_id = ${project.id}`;
  for (const table of [
    'person',
    'event',
    'draft',
    'email',
    'test_inbox_email',
    'outcome',
    'decision',
    'run',
    'activity',
    'ingest_log',
    'webhook_attempt',
  ])
    expect(await count(db, `${table} ${mine}`), table).toBeGreaterThan(5);
  expect(await count(db, `draft ${mine} AND state = 'scheduled'`)).toBeGreaterThan(0);
  expect(await count(db, `ingest_queue ${mine}`)).toBe(0);
  // Simulated events are not sent to any endpoint from here on.
  expect(await count(db, `webhook_endpoint ${mine} AND disabled_at IS NULL`)).toBe(0);
  expect(await count(db, `webhook_delivery ${mine} AND next_at IS NOT NULL`)).toBe(0);
  expect(await count(db, `dead_letter ${mine}`)).toBe(0);
  expect((await removeDemos(db)).map(({ id }) => id)).toEqual([project.id]);
  expect(await rowsOf(db)).toEqual(before);
  expect(await removeDemos(db)).toEqual([]);
}, 120_000);

test('sends nothing from a demo: its emails stay in the test inbox even with a relay, and no endpoint can be added', async () => {
  const fixture = await opened(systemClock);
  const { db } = fixture;
  onTestFinished(() => fixture.close());
  const [demo, real] = [
    await createProject(db, { name: 'Made up', isDemo: true }),
    await createProject(db, { name: 'Acme' }),
  ];
  const relayed: string[] = [];
  const transport = keepInside(
    {
      submit({ address }) {
        relayed.push(address);
        return Promise.resolve({ result: 'sent' });
      },
    },
    db,
  );
  for (const { id: projectId } of [demo, real, demo])
    expect(await transport.submit(emailTo(projectId))).toMatchObject({ result: 'sent' });
  expect(relayed).toEqual([`${real.id}@x.org`]);
  expect(await count(db, `test_inbox_email WHERE project_id = ${demo.id}`)).toBe(2);
  const deps = {
    db,
    newId: idMaker(db.clock),
    encrypter: testMail().encrypter,
    rules: { allowPrivate: false },
  };
  const url = 'https://hooks.example/';
  await expect(addEndpoint(deps, { projectId: demo.id, url })).rejects.toMatchObject({ code: 'conflict' });
  const { endpoint } = await addEndpoint(deps, { projectId: real.id, url });
  expect(endpoint.url).toBe(url);
});

function emailTo(projectId: number): TransportEmail {
  const address = `${projectId}@x.org`;
  return {
    projectId,
    draftId: randomUUID(),
    emailId: randomUUID(),
    userId: 'ada',
    address,
    content: { subject: 'Hello', preheader: '', body: 'Hello', format: 'markdown' },
    mailFrom: 'hello@x.org',
    rcptTo: address,
    mime: Buffer.from('Subject: Hello\r\n\r\nHello\r\n'),
  };
}

async function rowsOf(db: Database): Promise<Record<string, number>> {
  const tables = await db.query<{ name: string }>(
    `SELECT DISTINCT table_name AS name FROM information_schema.columns
     WHERE table_schema = 'beckon' AND column_name = 'project_id' AND table_name !~ '^event_[0-9d]' ORDER BY 1`,
  );
  const counts: [string, number][] = [];
  for (const { name } of tables) counts.push([name, await count(db, name)]);
  return Object.fromEntries(counts);
}

import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { withoutDatabase } from '../../../../testing/factories/database.ts';
import { openStage } from '../../../../testing/scenario.ts';
import { sendTracked, settleAll, startTracking } from '../../../../testing/servers/tracking.ts';
import { idMaker } from '../../../platform/ids.ts';
import { silentLog } from '../../../platform/log.ts';
import { settleHits } from './settle-hits.ts';

const stage = await openStage();
const { server } = stage;
const { db, clock } = server;
const [here, there] = [await startTracking(db), await startTracking(db)];

const sent = () => sendTracked(stage);

/** Sends this many requests over one connection, as fast as they are answered. Returns how many were answered with 200. */
function fetchOften(
  origin: string,
  path: string,
  { times, agent }: { times: number; agent: string },
): Promise<number> {
  const { hostname, port } = new URL(origin);
  const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nUser-Agent: ${agent}\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n`;
  const together = 100;
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let [requested, received, tail] = [0, 0, ''];
    const sendMore = (): void => {
      const more = Math.min(together, times - requested);
      requested += more;
      socket.write(request.repeat(more));
    };
    socket.on('connect', sendMore).on('error', reject);
    socket.on('data', (data: Buffer) => {
      const text = tail + data.toString('latin1');
      received += text.split('HTTP/1.1 200 ').length - 1;
      // The beginning of an answer may be cut in two. Counted text is not counted again.
      tail = text.slice(Math.max(0, text.length - 12)).replace('HTTP/1.1 200 ', '');
      if (received < requested) return;
      if (requested < times) return sendMore();
      socket.end();
      resolve(received);
    });
  });
}

/** Set it to test with a million; that takes some minutes. */
const OPENS = Number(process.env['TRACKED_OPENS'] ?? 5_000);

test(
  `an email opened ${OPENS} times has bounded rows, one outcome of each class, and still counts a human`,
  { timeout: 60_000 + OPENS },
  async () => {
    const email = await sent();
    const { pathname } = new URL(email.pixel);
    const began = performance.now();
    const flood = (origin: string, times: number): Promise<number> =>
      fetchOften(origin, pathname, { times, agent: 'curl/8' });
    const half = OPENS / 2;
    expect(await Promise.all([flood(here.origin, half), flood(there.origin, half)])).toEqual([half, half]);
    const ms = Math.round(performance.now() - began);
    // A person opens it in the middle, when unclassified hits take every place.
    await here.written();
    await there.written();
    await here.get(email.pixel);
    await there.get(email.links[0] ?? '');
    await settleAll(stage, [here, there]);
    const rows = await email.hits();
    const found = { rows: rows.length, hits: await email.count(), outcomes: await email.outcomes() };
    process.stdout.write(`${OPENS} opens in ${ms} ms: ${JSON.stringify(found)}\n`);
    expect(found).toEqual({
      rows: 100,
      hits: OPENS + 2,
      outcomes: ['clicked 0 no', 'opened -1 no', 'opened -1 yes'],
    });
    expect(rows.every((row) => !row.includes('?'))).toBe(true);

    expect(await flood(here.origin, 500)).toBe(500);
    await settleAll(stage, [here, there]);
    expect((await email.hits()).length).toBe(100);
    expect(await email.count()).toBe(OPENS + 502);
    expect(await email.outcomes()).toHaveLength(3);
  },
);

test('two servers with hits on one email, and two workers that classify it, create one outcome', async () => {
  const emails = [await sent(), await sent(), await sent()];
  await Promise.all(
    emails.flatMap(({ pixel, links }) =>
      [here, there, here, there].flatMap((at) => [at.get(pixel), at.get(links[0] ?? '')]),
    ),
  );
  await Promise.all([here.written(), there.written()]);
  clock.advance(10_000);
  const deps = { db, newId: idMaker(db.clock), log: silentLog };
  const settled = await Promise.all([settleHits(deps), settleHits(deps), settleHits(deps)]);
  expect(settled.reduce((sum, { emails: count }) => sum + count, 0)).toBe(3);
  for (const email of emails) {
    expect(await email.count()).toBe(8);
    expect(await email.outcomes()).toEqual(['clicked 0 no', 'opened -1 no']);
  }
});

test('while the database is unavailable links answer 503, pixels are served, and no open is lost', async () => {
  const email = await sent();
  await withoutDatabase(server.database, async () => {
    const click = await here.get(email.links[0] ?? '');
    expect([click.status, click.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await click.text()).toContain('Please try again in a moment.');
    expect((await here.get(email.pixel)).status).toBe(200);
  });
  await settleAll(stage, [here]);
  expect(await email.outcomes()).toEqual(['opened -1 no']);
});

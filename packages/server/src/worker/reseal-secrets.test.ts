import { expect, test } from 'vitest';
import { endpointServer } from '../../testkit/endpoint-server.ts';
import { silentLog } from '../base/log.ts';
import { createSealer, type Sealer } from '../base/seal.ts';
import { addSecret } from '../features/endpoints/index.ts';
import { openListener } from '../features/listeners/index.ts';
import { resealSecrets } from './index.ts';

const server = await endpointServer();
const { db, clock } = server;

const OLD = 'the one that was in force before';
const NEW = 'the one that is in force from now on';
const old = createSealer(OLD, null, 'test');
const changing = createSealer(NEW, OLD, 'test');
const stranger = createSealer('a secret that nobody knows any more', null, 'test');

const told: object[] = [];
const warn = (found: object): void => void told.push(found);
const log = { ...silentLog, warn };
const duty = () => resealSecrets({ db, log, sealer: changing });
const goOn = (): boolean => false;

const idOf = (n: number): string => `00000000-0000-7000-8000-00000000000${n}`;
/** A DKIM key, a webhook secret and a listener, each of the n-th place. */
async function fill(n: number, sealer: Sealer): Promise<void> {
  const [id, now] = [idOf(n), clock.now()];
  await db.query(
    `INSERT INTO beckon.dkim_key (project_id, domain_id, slot, state, public_key, private_key, created_at, changed_at)
     VALUES (1, $1, 'a', 'active', '', $2, $3, $3)`,
    [id, sealer.seal(Buffer.from('key'), `dkim 1 ${id} a`), new Date(now)],
  );
  await addSecret(db, sealer, { projectId: 1, endpointId: id, id, now, overlapMs: 0 });
  await openListener({ db, sealer }, { projectId: 1, personId: `p${n}` });
}

/** How many are sealed under the new secret, of each kind. */
async function renewed(): Promise<number[]> {
  const kinds = ['private_key AS sealed FROM beckon.dkim_key', 'sealed FROM beckon.webhook_secret'];
  const all = [...kinds, 'sealed FROM beckon.webhook_listener'].map((kind) =>
    db.query<{ sealed: Buffer }>(`SELECT ${kind}`),
  );
  return (await Promise.all(all)).map(
    (rows) => rows.filter(({ sealed }) => changing.isCurrent(sealed)).length,
  );
}

test('one that cannot be read is warned of, and what another process seals under the old secret follows within ten minutes', async () => {
  await fill(1, stranger);
  await fill(2, old);
  const running = duty();
  await running.run(goOn);
  expect(await renewed()).toEqual([1, 1, 1]);
  expect(told.map((one) => ('boundTo' in one ? one.boundTo : one))).toEqual([
    `dkim 1 ${idOf(1)} a`,
    `webhook secret 1 ${idOf(1)}`,
    'webhook listener 1 p1',
  ]);
  await fill(3, old);
  clock.advance(10 * 60_000);
  await running.run(goOn);
  expect(await renewed()).toEqual([2, 2, 2]);
});

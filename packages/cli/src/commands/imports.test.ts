import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Import } from '@beckon/contract/dashboard';
import { testCases } from '../../testkit/cases.ts';
import { testShell } from '../../testkit/shell.ts';
import { testWorld } from '../../testkit/world.ts';
import { stripeAccount } from '../../../server/testing/factories/stripe-account.ts';
import { STRIPE_KEY, stripeServer } from '../../../server/testing/servers/stripe-server.ts';

const stripe = await stripeServer(
  stripeAccount({ customers: 3, seed: 1, now: Math.floor(Date.now() / 1000) }),
);
afterAll(() => stripe.close());
const world = await testWorld({ stripeAddress: stripe.address });
const local = testShell({ DATA_DIR: await world.localSocket() });
const at = (file: string): string => join(local.folder, file);

beforeAll(async () => {
  await writeFile(at('users.csv'), 'ID,Mail,Seats\nada,ada@x.org,3\nbob,nothing,4\n');
  await writeFile(at('good.csv'), 'id,email\neve,eve@x.org\n');
  await writeFile(at('no-id.csv'), 'mail\nada@x.org\n');
  await writeFile(at('events.jsonl'), '{"user_id":"ada","event":"opened","message_id":"m1"}\n');
  await writeFile(at('key'), STRIPE_KEY);
  await writeFile(at('public-key'), 'pk_live_public');
});

describe('imports', () => {
  let id = '';
  const mapped = 'imports users users.csv --map traits.seats=Seats --types traits.seats=text';
  testCases(local, [
    { run: 'imports list', shows: /No imports yet/, json: [] },
    { run: 'imports users absent.csv', fails: [2, /Cannot read absent\.csv/] },
    { run: 'imports users users.csv --map x', fails: [2, /write field=value/] },
    { run: 'imports users users.csv --types plan=text', fails: [2, /--types plan: also name the column/] },
    { run: 'imports users no-id.csv', fails: [2, /external_user_id/] },
    { run: 'imports list', shows: /users +no-id\.csv +canceled/ },
    {
      run: 'imports events events.jsonl --dry-run',
      shows:
        /state +checked[^]*emails sent by the import +0[^]*Event names\nname +events[^]*opened +1[^]*Dry run: no records were imported/,
      json: { state: 'checked', check: { events: 1 } },
    },
    {
      run: 'imports users good.csv --dry-run',
      shows: /Columns\ncolumn +field +type +example\nid +external_user_id +\S+ +eve/,
    },
    { run: 'imports events events.jsonl --live 7', fails: [2, /live_events/] },
    { run: 'imports events events.jsonl', shows: /state +done[^]*Events +accepted: 1\n +new: 1\n +known: 0/ },
    { run: 'imports show x', fails: [1, /./] },
    { run: 'imports pause x', fails: [1, /./] },
    { run: 'imports set-key x --stripe-key-file absent', fails: [2, /Cannot read absent/] },
    { run: () => `imports stripe --stripe-key-file ${at('public-key')}`, fails: [2, /Stripe key/] },
    {
      run: () => `imports stripe --stripe-key-file ${at('key')} --dry-run`,
      json: { kind: 'stripe', state: 'checked' },
    },
    {
      run: () => `imports stripe --stripe-key-file ${at('key')} --unmatched-as-customers`,
      shows: /kind +stripe[^]*state +done/,
    },
  ]);

  test('users ends with 4 when rows are rejected, and findings lists them', async () => {
    const { code, lines } = await local.run([...mapped.split(' '), '--json']);
    expect([code, lines]).toMatchObject([
      4,
      [
        {
          state: 'done',
          progress: { rows: 2, rejected: 1 },
          mapping: { columns: { Seats: { type: 'text' } } },
        },
      ],
    ]);
    ({ id } = lines[0] as Import);
    const again = await local.run(mapped.split(' '));
    expect([again.code, again.out]).toEqual([
      4,
      expect.stringMatching(/Show rejected rows: beckon imports findings/),
    ]);
  });

  test('users reads stdin', async () => {
    const stdin = 'id,email\nzoe,zoe@x.org\n';
    const { code, lines } = await local.run(['imports', 'users', '-', '--json'], { stdin });
    expect([code, lines]).toMatchObject([0, [{ name: 'stdin', state: 'done', progress: { rows: 1 } }]]);
  });

  testCases(local, [
    {
      run: () => `imports show ${id}`,
      shows: /name +users\.csv\nstate +done[^]*rows +2\nrejected +1/,
      json: {},
    },
    { run: () => `imports findings ${id}`, shows: /rejected +3 +email +.*nothing/, json: [{ row: 3 }] },
    { run: () => `imports findings ${id} --kind unmatched`, shows: /No matches/, json: [] },
    { run: () => `imports findings ${id} --csv`, shows: /^row,field,message,raw\r?\n3,email,/ },
    { run: () => `imports cancel ${id}`, fails: [1, /./] },
    { run: () => `imports resume ${id}`, fails: [1, /./] },
    { run: () => `imports set-key ${id} --stripe-key-file ${at('key')}`, fails: [2, /key/] },
  ]);

  test('an interrupted command leaves the import on the server, where pause, resume and cancel change it', async () => {
    let open: (() => void) | undefined;
    const blocked = new Promise<void>((resolve) => (open = resolve));
    let markBegun: (() => void) | undefined;
    const begun = new Promise<void>((resolve) => (markBegun = resolve));
    stripe.beforeResponse = () => {
      markBegun?.();
      return blocked;
    };
    const running = local.start(['imports', 'stripe', '--stripe-key-file', at('key')]);
    await begun;
    running.interrupt();
    const { code, err } = await running.ended;
    expect([code, err]).toEqual([130, expect.stringContaining('is still on the server')]);
    open?.();
    stripe.beforeResponse = () => undefined;
    const [job] = (await local.json(['imports', 'list', '--limit', '1'])) as Import[];
    const canceled = await local.run(['imports', 'cancel', job?.id ?? '']);
    expect(canceled.out).toMatch(/of Stripe is canceled\. Records that were already imported are kept/);
  });
});

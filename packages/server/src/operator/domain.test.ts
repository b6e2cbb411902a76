import { afterAll, beforeEach, expect, test } from 'vitest';
import { heldClock } from '../../testkit/clock.ts';
import { openTestDatabase } from '../../testkit/database.ts';
import { startDnsServer } from '../../testkit/dns-server.ts';
import { testMail } from '../../testkit/mailroom.ts';
import { typed } from '../../testkit/typed-command.ts';
import { createProject } from '../flows/create-project.ts';
import { createResolver } from '../io/dns/index.ts';

const dns = await startDnsServer();
const clock = heldClock();
const db = await openTestDatabase(clock);
afterAll(() => dns.stop());

const resolver = createResolver({ servers: dns.servers, timeoutMs: 60, tries: 1 });
type Shown = {
  id: string;
  name: string;
  state: string;
  records: {
    kind: string;
    name: string;
    type: 'TXT' | 'MX';
    value: string;
    status: string;
    required: boolean;
    found: string[];
  }[];
};
type Ran = { out: string; err: string; code: number; json: Shown };

let projectId = 0;
let name = '';
beforeEach(async () => {
  dns.trouble(null);
  ({ id: projectId } = await createProject(db, { name: 'Acme' }));
  name = `mail${projectId}.acme.test`;
});

/** A command as it is typed, for this test's project; the database is given back whatever happens. */
async function beckon(...args: string[]): Promise<Ran> {
  const mail = { mailDomain: 'in.beckon.test', spfInclude: 'spf.relay.test' };
  const given = { db, resolver, mail };
  const ran = await typed(given, ['domain', ...args, '--project', String(projectId)]);
  return { ...ran, json: ran.json as Shown };
}

const add = () => beckon('add', '--domain', name, '--json');
const publish = ({ json }: Ran): void => {
  for (const record of json.records) dns.set(record.type, record.name, [record.value]);
};

test('domain add prints the records to publish, for people and for scripts', async () => {
  const { json } = await add();
  expect(json).toMatchObject({ name, state: 'pending', throttle: 'off', warm: false, checked_at: null });
  expect(json.records.map(({ kind, type, required, status }) => [kind, type, required, status])).toEqual([
    ['dkim', 'TXT', true, 'unchecked'],
    ['return_path_mx', 'MX', true, 'unchecked'],
    ['return_path_spf', 'TXT', false, 'unchecked'],
    ['dmarc', 'TXT', true, 'unchecked'],
  ]);
  const { out } = await beckon('show', '--domain', name);
  // Each value alone on its line.
  for (const { value, name: at } of json.records) {
    expect(out.split('\n').map((line) => line.trim())).toContain(value);
    expect(out).toContain(at);
  }
  expect(await beckon('add', '--domain', name)).toMatchObject({
    code: 1,
    err: expect.stringContaining('already'),
  });
  expect(await beckon('add', '--domain', 'co.uk')).toMatchObject({
    code: 1,
    err: expect.stringContaining('everybody'),
  });
});

test('domain check prints what was found against what was expected, and verifies what is right', async () => {
  const added = await add();
  publish(added);
  dns.set('TXT', `_dmarc.${name}`, ['v=DMARC1; p=\u001b[2Jperhaps']);
  const wrong = await beckon('check', '--domain', name);
  expect(wrong.out).toContain(`${name} is pending`);
  expect(wrong.out).toContain('DMARC: wrong');
  expect(wrong.out).toContain('expected: v=DMARC1; p=none');
  expect(wrong.out).toMatch(/found: +v=DMARC1; p=\u{FFFD}\[2Jperhaps/u);
  publish(added);
  const { json } = await beckon('check', '--domain', name.toUpperCase(), '--json');
  expect(json).toMatchObject({ id: added.json.id, state: 'verified' });
  expect(json.records.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok', 'ok']);
  expect(json.records.map(({ found }) => found)).toEqual(json.records.map(({ value }) => [value]));
});

test('domain check without a name looks at all of a project, domain list looks at none', async () => {
  publish(await add());
  await beckon('add', '--domain', `z.${name}`);
  const listed = async (...args: string[]) =>
    ((await beckon(...args, '--json')).json as unknown as Shown[]).map((one) => [one.name, one.state]);
  expect(await listed('list')).toEqual([
    [name, 'pending'],
    [`z.${name}`, 'pending'],
  ]);
  expect(await listed('check')).toEqual([
    [name, 'verified'],
    [`z.${name}`, 'pending'],
  ]);
  expect(await listed('list', '--domain', name)).toEqual([[name, 'verified']]);
  expect((await beckon('list')).out).toMatch(/4 of 4 right[^]*0 of 4 right/);
});

test('domain set says how fast, domain rotate adds a key, domain remove asks where letters leave from', async () => {
  publish(await add());
  const set = await beckon('set', '--domain', name, '--throttle', '5/s', '--warm', '--json');
  expect(set.json).toMatchObject({ throttle: '5/s', warm: true });
  expect((await beckon('set', '--domain', name, '--no-warm', '--json')).json).toMatchObject({
    throttle: '5/s',
    warm: false,
  });
  expect(await beckon('set', '--domain', name, '--throttle', 'fast')).toMatchObject({ code: 1 });
  await beckon('check', '--domain', name);
  const rotated = await beckon('rotate', '--domain', name, '--json');
  expect(rotated.json.records.filter(({ kind }) => kind === 'dkim')).toMatchObject([
    { key_state: 'active', required: true, status: 'ok' },
    { key_state: 'pending', required: false, status: 'unchecked' },
  ]);
  expect(await beckon('remove', '--domain', name)).toMatchObject({
    code: 1,
    err: expect.stringContaining('--yes'),
  });
  expect((await beckon('remove', '--domain', name, '--yes', '--json')).json).toEqual({
    id: set.json.id,
    name,
    removed: true,
  });
  expect(await beckon('show', '--domain', name)).toMatchObject({
    code: 1,
    err: expect.stringContaining('no domain'),
  });
});

test('a DNS that gives no answer is told, and counts for nothing', async () => {
  await add();
  dns.trouble('servfail');
  const { json, code } = await beckon('check', '--domain', name, '--json');
  expect([code, json.state, json.records.map(({ status }) => status)]).toEqual([
    0,
    'pending',
    ['unknown', 'unknown', 'unknown', 'unknown'],
  ]);
});

test('a paused domain says so and why wherever it is shown, and domain resume lets its letters leave again', async () => {
  const { json } = await add();
  const why = '6 of its last 100 letters were refused for what they are';
  await db.query('UPDATE beckon.sending_domain SET paused_at = now(), paused_reason = $2 WHERE id = $1', [
    json.id,
    why,
  ]);
  for (const command of [['list'], ['show', '--domain', name]])
    expect((await beckon(...command)).out).toContain(why);
  expect((await beckon('show', '--domain', name, '--json')).json).toMatchObject({ paused_reason: why });
  const resumed = await beckon('resume', '--domain', name, '--json');
  expect(resumed.json).toEqual({ id: json.id, name, was_paused: true, retried: 0 });
  expect((await beckon('resume', '--domain', name)).out).toContain('was not paused');
  expect((await beckon('list')).out).not.toContain(why);
  expect(await beckon('resume', '--domain', 'other.test')).toMatchObject({ code: 1 });
});

test('domain track says which record leads here, and where none can as long as PUBLIC_URL is no https address', async () => {
  await add();
  const track = async (publicUrl: string): Promise<string> => {
    const { mailroom } = testMail();
    const given = { db, resolver, mailroom: { ...mailroom, outlet: { ...mailroom.outlet, publicUrl } } };
    const of = ['--project', String(projectId), '--domain', name, '--host', `t.${name}`];
    return (await typed(given, ['domain', 'track', ...of])).out;
  };
  const open = await track('https://beckon.acme.test');
  expect(open).toContain(`  CNAME  t.${name}\n  beckon.acme.test\n`);
  expect(open).not.toContain('PUBLIC_URL');
  expect(await track('http://localhost:8080')).toContain('PUBLIC_URL is http://localhost:8080');
  expect((await beckon('track', '--domain', name)).err).toContain('--off');
  expect((await beckon('track', '--domain', name, '--host', 't.other.test')).err).toContain(`below ${name}`);
  expect((await beckon('track', '--domain', name, '--off')).out).toContain(
    'the address of this installation',
  );
});

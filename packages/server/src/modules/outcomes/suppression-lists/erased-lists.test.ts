import { beforeEach, describe, expect, test } from 'vitest';
import { testHasher } from '../../../../testing/factories/send-services.ts';
import { newScenario, openStage, type Scenario } from '../../../../testing/scenario.ts';
import { suppressionLists } from '../../../../testing/factories/suppression-lists.ts';
import { idMaker } from '../../../platform/ids.ts';
import { createSuppressionHasher } from '../../sending/suppressions/hasher.ts';
import { erasePerson } from '../../profiles/erase-user.ts';

const stage = await openStage();
const { db } = stage.server;
const OTHER_INSTALLATION = createSuppressionHasher(Buffer.alloc(32, 9));

let scenario: Scenario;
let EMAIL = '';
beforeEach(async () => {
  scenario = await newScenario(stage);
  EMAIL = `needle${scenario.projectId}@x.org`;
});
const { add, list, importList, exportList } = suppressionLists(db, () => scenario);

async function eraseAda(): Promise<void> {
  await scenario.user('ada', { email: EMAIL });
  await stage.engine.settle();
  await add({ email: EMAIL }, 'unsubscribed');
  await add({ email: EMAIL }, 'manual');
  const { projectId } = scenario;
  await erasePerson({ db, newId: idMaker(db.clock), hasher: testHasher }, { projectId, userId: 'ada' });
}

/** Exports the list, and deletes it. */
async function exportAndDelete(): Promise<string> {
  const text = await exportList();
  await db.query(`DELETE FROM beckon.suppression WHERE project_id = $1`, [scenario.projectId]);
  return text;
}

describe('export and import of erased users', () => {
  test('carry the hash and the ID of its key', async () => {
    await eraseAda();
    const [before] = await list();
    const [line = ''] = (await exportList('ndjson')).split('\n');
    expect(JSON.parse(line)).toMatchObject({
      email: null,
      user: null,
      reason: 'unsubscribed',
      hash: expect.stringMatching(/^email:[0-9a-f]{64}$/) as string,
      hash_key: expect.stringMatching(/^[0-9a-f]{16}$/) as string,
    });
    const text = await exportAndDelete();
    expect(await importList(text)).toMatchObject({ rows: 2, added: 1, already_suppressed: 1, rejected: 0 });
    expect(await list()).toMatchObject([
      { hash: before?.hash, value: null, from_erased: true, reason: 'unsubscribed' },
    ]);
    expect(await exportList()).toMatch(/manual/);
    expect(await importList(text)).toMatchObject({ added: 0, already_suppressed: 2 });
  });

  test('reject a hash of another installation or project, and import the rest', async () => {
    await eraseAda();
    await add({ email: 'bob@x.org' });
    const text = await exportAndDelete();
    const { problems, ...counts } = await importList(text, { hasher: OTHER_INSTALLATION });
    expect(counts).toMatchObject({ added: 1, rejected: 2 });
    expect(problems[0]).toMatchObject({ field: 'hash_key' });
    expect(problems[0]?.message).toContain('can only be imported into the project of the installation');
    scenario = await newScenario(stage);
    expect(await importList(text)).toMatchObject({ added: 1, rejected: 2 });
  });

  test('reject an invalid hash, and a hash without a key', async () => {
    const hash = 'ab'.repeat(32);
    const { problems } = await importList(
      `hash,hash_key\nemail:${hash.toUpperCase()},x\n${hash},x\nuser:${hash},\n`,
    );
    expect(problems.map(({ field }) => field)).toEqual(['hash', 'hash', 'hash_key']);
  });

  test('ignore a column named hash beside addresses', async () => {
    expect(await importList('email,hash\nada@x.org,d41d8cd98f\n')).toMatchObject({ added: 1, rejected: 0 });
  });

  test('suppress a user who already has the address of a hash, and end their drafts and runs', async () => {
    await eraseAda();
    const text = await exportAndDelete();
    await scenario.user('eve', { email: EMAIL });
    await scenario.event('eve', 'user_signed_up');
    await stage.engine.settle();
    expect(await scenario.drafts('eve')).toMatchObject([{ state: 'scheduled' }]);
    expect(await importList(text)).toMatchObject({ added: 1, drafts: 1, runs: 1 });
    expect(await scenario.drafts('eve')).toMatchObject([{ state: 'canceled', reason: 'suppressed' }]);
    expect(await list()).toMatchObject([{ value: EMAIL, from_erased: true }]);
  });

  test('suppress a user who is added after the import', async () => {
    await eraseAda();
    const text = await exportAndDelete();
    // Processing reads the project's definitions while the project keeps no hashes.
    const steps = [{ draft: { subject: 'Hello', body: 'You' } }];
    await scenario.rule({ name: 'greeter', when: { event: 'hello' }, steps });
    await scenario.user('bob', { email: 'bob@x.org' });
    await stage.engine.settle();
    await importList(text);
    await scenario.user('eve', { email: EMAIL });
    await stage.engine.settle();
    expect(await list()).toMatchObject([{ value: EMAIL, from_erased: true }]);
  });

  test('merge a plain address with the hash of the same address', async () => {
    await eraseAda();
    const text = `email,reason\n${EMAIL},hard_bounce\n`;
    expect(await importList(text, { dryRun: true })).toMatchObject({ added: 0, already_suppressed: 1 });
    expect(await list()).toMatchObject([{ value: null }]);
    await importList(text);
    expect(await list()).toMatchObject([{ value: EMAIL, reason: 'unsubscribed', from_erased: true }]);
  });
});

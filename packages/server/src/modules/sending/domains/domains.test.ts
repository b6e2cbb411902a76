import { createPrivateKey, createPublicKey } from 'node:crypto';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { fixedClock } from '../../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../../testing/factories/database.ts';
import { startDnsServer } from '../../../../testing/servers/dns-server.ts';
import { testResolver } from '../../../../testing/servers/test-resolver.ts';
import { draftFacts } from '../../../../testing/factories/drafts.ts';
import { findText } from '../../../../testing/oracles/find-text.ts';
import { idMaker } from '../../../platform/ids.ts';
import { silentLog } from '../../../platform/log.ts';
import { createEncrypter } from '../../../platform/crypto/encrypt.ts';
import { createSigners } from './signers.ts';
import { reencryptDkimKeys } from './re-encrypt-keys.ts';
import { findDraft } from '../../drafts/reads.ts';
import { hold } from '../../drafts/hold-draft.ts';
import { newDraft } from '../../drafts/new-draft.ts';
import { orThrow } from '../../drafts/refusals.ts';
import { writeTransitions } from '../../drafts/store.ts';
import type { Resolver } from '../../../platform/dns/resolver.ts';
import { createProject } from '../../administration/create-project.ts';
import { addDomain, removeDomain, rotateKey, setDomain } from './change-domain.ts';
import { checkDomain } from './check-domain.ts';
import { type DomainView, showDomain, showDomains } from './domain-view.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const dns = await startDnsServer();
const clock = fixedClock();
const db = await openTestDatabase(clock);
afterAll(() => dns.stop());

const encrypter = createEncrypter('a secret', null, 'dkim keys');
const resolver = testResolver(dns);
const mail = { mailDomain: 'in.beckon.test', spfInclude: 'spf.relay.test' };
const deps = { db, encrypter, resolver, mail };
const signers = createSigners(encrypter, mail);

let projectId = 0;
let name = '';
beforeEach(async () => {
  dns.fail(null);
  ({ id: projectId } = await createProject(db, { name: 'Acme' }));
  // Each test has its own records.
  name = `mail${projectId}.acme.test`;
});

const add = (more: { projectId?: number; name?: string; warm?: boolean; throttle?: string } = {}) =>
  addDomain(deps, { projectId, name, ...more });
const show = (): Promise<DomainView> => showDomain(db, { projectId, name }, mail);
const publish = ({ records }: DomainView): void => {
  for (const record of records) dns.set(record.type, record.name, [record.value]);
};
const recordOf = ({ records }: DomainView, kind: string, n = 0) => {
  const found = records.filter((record) => record.kind === kind)[n];
  if (!found) throw new Error(`no ${kind}`);
  return found;
};
const check = async ({ domain }: DomainView, dnsResolver = resolver): Promise<DomainView> => {
  const checked = await checkDomain({ ...deps, resolver: dnsResolver }, domain);
  if (!checked) throw new Error('gone');
  return checked.view;
};
const signer = (from = name, of = projectId) => signers.of(db, of, from);
const dkimNow = async () => {
  const dkim = (await signer())?.dkim;
  if (!dkim) throw new Error('nothing signs');
  return dkim;
};
const statuses = ({ records }: DomainView) => records.map(({ finding }) => finding?.verdict);

/** Adds a domain whose records are published and seen. */
async function verified(more: Parameters<typeof add>[0] = {}): Promise<DomainView> {
  const added = await add(more);
  publish(added);
  const seen = await check(added);
  expect(seen.domain.state).toBe('verified');
  return seen;
}

/** Creates a draft that is held for the given reason. */
async function holdEmail(reason: string): Promise<string> {
  const now = clock.now();
  const made = newDraft({ ...draftFacts(idMaker(clock)), projectId, now });
  const held = orThrow(hold(made.draft, { reason, until: null, now }));
  await writeTransitions(db, [made]);
  await writeTransitions(db, [held]);
  return made.draft.id;
}
const dueOf = async (id: string) => (await findDraft(db, projectId, id))?.draft.dueAt;

test('adds a domain with its own key, unverified until its records are seen', async () => {
  const added = await add({ name: ` ${name.toUpperCase()}. `, throttle: '5/s' });
  expect(added.domain).toMatchObject({
    name,
    state: 'pending',
    throttle: { emails: 5, perMs: 1_000 },
    warm: false,
  });
  expect(added.domain.nextCheckAt).toBe(clock.now() + MINUTE);
  expect(await show()).toEqual(added);
  expect(await signer()).toMatchObject({ domain: { state: 'pending' }, dkim: null });
  const seen = await check(added);
  expect(statuses(seen)).toEqual(['missing', 'missing', 'missing', 'missing']);
  expect(seen.domain).toMatchObject({
    state: 'pending',
    verifiedAt: null,
    warmupFrom: null,
    checkedAt: clock.now(),
  });
});

test('verifies a domain once its records are seen, signs with its key, and starts the warm-up', async () => {
  const seen = await verified();
  expect(statuses(seen)).toEqual(['ok', 'ok', 'ok', 'ok']);
  const now = clock.now();
  expect(seen.domain).toMatchObject({ verifiedAt: now, warmupFrom: now, nextCheckAt: now + DAY });
  expect(await show()).toEqual(seen);
  const by = await signer();
  expect(by).toMatchObject({ domain: seen.domain, returnPath: `bounce.${name}`, dkim: { domain: name } });
  expect(`${by?.dkim?.selector}._domainkey.${name}`).toBe(recordOf(seen, 'dkim').name);
  const publicKey = createPublicKey(createPrivateKey(by?.dkim?.privateKey ?? ''));
  expect(recordOf(seen, 'dkim').value).toContain(
    publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
  );
});

test.each(['dkim', 'dmarc', 'return_path_mx'])('does not verify a domain without %s', async (kind) => {
  const added = await add();
  publish(added);
  const { type, name: at } = recordOf(added, kind);
  dns.remove(type, at);
  expect((await check(added)).domain.state).toBe('pending');
  dns.fail('servfail', at);
  expect((await check(added)).domain.state).toBe('pending');
});

test('verifies a domain without SPF, which is only a recommendation', async () => {
  const added = await add();
  publish(added);
  const spf = recordOf(added, 'return_path_spf');
  dns.remove(spf.type, spf.name);
  const seen = await check(added);
  expect(seen.domain.state).toBe('verified');
  expect(recordOf(seen, 'return_path_spf').finding).toMatchObject({ verdict: 'missing' });
});

test('requires no MX record without inbound bounces, and sends from the domain itself', async () => {
  const without = { mailDomain: null, spfInclude: null };
  const added = await addDomain({ ...deps, mail: without }, { projectId, name });
  publish(added);
  const checked = await checkDomain({ ...deps, mail: without }, added.domain);
  expect(checked?.view.domain.state).toBe('verified');
  expect(await createSigners(encrypter, without).of(db, projectId, name)).toMatchObject({ returnPath: name });
});

test('checks drafts held for the domain again when it is verified, and no others', async () => {
  const added = await add();
  const [waiting, quiet] = [await holdEmail('domain_not_ready'), await holdEmail('quiet_hours')];
  await check(added);
  expect(await dueOf(waiting)).toBe(null);
  clock.advance(MINUTE);
  publish(added);
  await check(added);
  expect([await dueOf(waiting), await dueOf(quiet)]).toEqual([clock.now(), null]);
});

test.each(['servfail', 'refused', 'silence'] as const)(
  'never revokes a domain for the DNS result %s',
  async (kind) => {
    const seen = await verified();
    dns.fail(kind);
    for (let look = 0; look < 4; look += 1) {
      clock.advance(DAY);
      const again = await check(seen);
      expect(again.domain).toMatchObject({ state: 'verified', misses: 0, failingSince: null });
      expect(statuses(again)).toEqual(['unknown', 'unknown', 'unknown', 'unknown']);
    }
    expect((await signer())?.dkim).not.toBe(null);
  },
);

test('shows a missing record at once, stops sending after three checks over an hour, and recovers after one', async () => {
  const seen = await verified();
  const { type, name: at, value } = recordOf(seen, 'dkim');
  dns.remove(type, at);
  const states: string[] = [];
  for (let look = 0; look < 4; look += 1) {
    clock.advance(20 * MINUTE);
    const { domain } = await check(seen);
    expect(domain.nextCheckAt).toBeGreaterThan(clock.now());
    states.push(domain.state);
  }
  expect(states).toEqual(['degraded', 'degraded', 'degraded', 'failed']);
  // A DNS failure does not show whether the record is right again.
  dns.fail('servfail');
  expect((await check(seen)).domain.state).toBe('failed');
  dns.fail(null);
  const waiting = await holdEmail('domain_not_ready');
  dns.set(type, at, [value]);
  expect((await check(seen)).domain).toMatchObject({
    state: 'verified',
    misses: 0,
    warmupFrom: seen.domain.warmupFrom,
  });
  expect(await dueOf(waiting)).toBe(clock.now());
});

test('counts one of several concurrent checks, even in the same millisecond', async () => {
  const seen = await verified();
  const { type, name: at } = recordOf(seen, 'dmarc');
  dns.remove(type, at);
  // Each check reads the known state before any of them writes.
  let waiting = 3;
  const all = Promise.withResolvers<void>();
  const together: Resolver = {
    ...resolver,
    async mx(at) {
      waiting -= 1;
      if (waiting === 0) all.resolve();
      await all.promise;
      return resolver.mx(at);
    },
  };
  const looks = await Promise.all([check(seen, together), check(seen, together), check(seen, together)]);
  expect(looks.map(({ domain }) => domain.misses)).toEqual([1, 1, 1]);
  expect((await show()).domain).toMatchObject({ state: 'degraded', misses: 1 });
});

test('does not let a slow check undo the result of a later one', async () => {
  const added = await add();
  const [queryReceived, replyAllowed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const nothing = { kind: 'none', code: 'ENOTFOUND' } as const;
  const slow: Resolver = {
    ...resolver,
    txt: async () => nothing,
    cname: async () => nothing,
    async mx() {
      queryReceived.resolve();
      await replyAllowed.promise;
      return nothing;
    },
  };
  const behind = check(added, slow);
  await queryReceived.promise;
  publish(added);
  const seen = await check(added);
  replyAllowed.resolve();
  expect(await behind).toEqual(seen);
  expect(await show()).toEqual(seen);
  expect(seen.domain.state).toBe('verified');
});

test('keeps both keys published through a rotation while emails signed with them are in transit', async () => {
  const first = await verified();
  const before = await dkimNow();
  const rotating = await rotateKey(deps, { projectId, name });
  expect(rotating.domain).toMatchObject({ state: 'verified', nextCheckAt: clock.now() + MINUTE });
  expect(
    rotating.records
      .filter(({ kind }) => kind === 'dkim')
      .map((record) => [record.required, record.keyState]),
  ).toEqual([
    [true, 'active'],
    [false, 'pending'],
  ]);
  const keyStates = (view: DomainView) => view.records.flatMap(({ keyState }) => keyState ?? []);

  // The new record is not published: the old key signs, and the domain misses nothing.
  clock.advance(MINUTE);
  const waiting = await check(first);
  expect([waiting.domain.state, keyStates(waiting)]).toEqual(['verified', ['active', 'pending']]);
  await expect(rotateKey(deps, { projectId, name })).rejects.toMatchObject({ code: 'conflict' });

  publish(rotating);
  const published = await check(first);
  expect(keyStates(published)).toEqual(['active', 'published']);
  expect(published.domain.nextCheckAt).toBe(clock.now() + HOUR);
  expect(await dkimNow()).toEqual(before);

  clock.advance(HOUR);
  const active = await check(first);
  expect(keyStates(active)).toEqual(['retiring', 'active']);
  const after = await dkimNow();
  expect(after.selector).toBe(before.selector.replace(/a$/, 'b'));
  expect(after.privateKey).not.toBe(before.privateKey);
  await expect(rotateKey(deps, { projectId, name })).rejects.toThrow(/two keys/);

  clock.advance(7 * DAY);
  const finished = await check(first);
  expect([finished.domain.state, keyStates(finished)]).toEqual(['verified', ['active']]);
  // The slot of the first key is free, and another key takes it.
  const next = await rotateKey(deps, { projectId, name });
  expect(recordOf(next, 'dkim').name).toBe(recordOf(first, 'dkim').name);
  expect(recordOf(next, 'dkim').value).not.toBe(recordOf(first, 'dkim').value);
  publish(next);
  await check(next);
  clock.advance(HOUR);
  await check(next);
  expect(await dkimNow()).toMatchObject({ selector: before.selector });
  expect((await dkimNow()).privateKey).not.toBe(before.privateKey);
});

test('signs with the new key if the old record was removed too early', async () => {
  const first = await verified();
  const rotating = await rotateKey(deps, { projectId, name });
  publish(rotating);
  dns.remove('TXT', recordOf(first, 'dkim').name);
  expect((await check(first)).domain.state).toBe('verified');
  expect((await signer())?.dkim?.selector).toMatch(/b$/);
});

test('keeps the new key if a check was running during the rotation', async () => {
  const first = await verified();
  const late: Resolver = {
    ...resolver,
    async mx(at) {
      if ((await show()).records.length === 4) await rotateKey(deps, { projectId, name });
      return resolver.mx(at);
    },
  };
  clock.advance(MINUTE);
  const seen = await check(first, late);
  expect(seen.records.length).toBe(5);
  expect(seen.domain.checkedAt).toBe(first.domain.checkedAt);
});

test('stores the private key nowhere in plain text', async () => {
  await verified();
  const pem = (await signer())?.dkim?.privateKey ?? '';
  expect(pem.length).toBeGreaterThan(1_000);
  const lines = pem.split('\n').filter((line) => line.length > 60);
  expect(await findText(db, [...lines.slice(1), 'PRIVATE KEY'])).toEqual([]);
});

test('keeps the same domain in two projects independent', async () => {
  const mine = await verified();
  const { id: otherId } = await createProject(db, { name: 'Other' });
  const theirs = await add({ projectId: otherId });
  expect(recordOf(theirs, 'dkim').name).not.toBe(recordOf(mine, 'dkim').name);
  expect(recordOf(theirs, 'dkim').value).not.toBe(recordOf(mine, 'dkim').value);
  // Records published for one project prove nothing for the other.
  expect((await check(theirs)).domain.state).toBe('pending');
  expect((await signer(name, otherId))?.dkim).toBe(null);
  await removeDomain(db, { projectId: otherId, name });
  expect(await signer(name, otherId)).toBe(null);
  expect((await signer())?.dkim).not.toBe(null);
});

test('signs with the nearest domain at or above the sender, and with none below or beside it', async () => {
  await verified();
  await verified({ name: `deep.${name}` });
  await add({ name: `x.deep.${name}` });
  const nameOf = async (from: string) => (await signer(from))?.domain.name ?? null;
  expect(await nameOf(name.toUpperCase())).toBe(name);
  expect(await nameOf(`other.${name}`)).toBe(name);
  expect(await nameOf(`deep.${name}`)).toBe(`deep.${name}`);
  // A verified domain takes precedence over a pending one.
  expect(await nameOf(`x.deep.${name}`)).toBe(`deep.${name}`);
  expect(await nameOf('acme.test')).toBe(null);
  expect(await nameOf(`x${name}`)).toBe(null);
  expect(await nameOf('')).toBe(null);
});

test('decrypts keys encrypted with the previous secret key, and re-encrypts them so that it can be retired', async () => {
  await verified();
  const before = (await signer())?.dkim;
  const renewing = createEncrypter('next secret', 'a secret', 'dkim keys');
  expect((await createSigners(renewing, mail).of(db, projectId, name))?.dkim).toEqual(before);
  const renewed = createEncrypter('next secret', null, 'dkim keys');
  await expect(createSigners(renewed, mail).of(db, projectId, name)).rejects.toThrow(/unknown secret key/);
  expect(await reencryptDkimKeys(db, { encrypter: renewing, log: silentLog })).toBeGreaterThan(0);
  expect(await reencryptDkimKeys(db, { encrypter: renewing, log: silentLog })).toBe(0);
  expect((await createSigners(renewed, mail).of(db, projectId, name))?.dkim).toEqual(before);
  // Restore the secret key for the other tests.
  await reencryptDkimKeys(db, {
    encrypter: createEncrypter('a secret', 'next secret', 'dkim keys'),
    log: silentLog,
  });
});

test('changes throttle and warm-up, and checks the drafts that wait for them again', async () => {
  await verified();
  const waiting = await holdEmail('warmup');
  clock.advance(MINUTE);
  const ref = { projectId, name };
  const warm = await setDomain(deps, ref, { warm: true, throttle: '300/m' });
  expect(warm.domain).toMatchObject({
    warm: true,
    warmupFrom: null,
    throttle: { emails: 300, perMs: MINUTE },
  });
  expect(await dueOf(waiting)).toBe(clock.now());
  const cold = await setDomain(deps, ref, { warm: false });
  expect(cold.domain).toMatchObject({ warm: false, warmupFrom: clock.now(), throttle: { emails: 300 } });
  expect((await setDomain(deps, ref, { throttle: 'off' })).domain.throttle).toBe(null);
  await expect(setDomain(deps, ref, { throttle: '5 per second' })).rejects.toMatchObject({
    code: 'validation_failed',
  });
  expect(await show()).toMatchObject({ domain: { throttle: null, warm: false } });
});

test('skips the warm-up of a warm domain', async () => {
  expect((await verified({ warm: true })).domain.warmupFrom).toBe(null);
});

test('rejects a duplicate domain, and deletes the keys with the domain', async () => {
  const added = await add();
  await expect(add()).rejects.toMatchObject({ code: 'conflict' });
  await removeDomain(db, { projectId, name: name.toUpperCase() });
  const keys = await db.query('SELECT 1 FROM beckon.dkim_key WHERE project_id = $1', [projectId]);
  expect(keys).toEqual([]);
  await expect(show()).rejects.toMatchObject({ code: 'not_found' });
  expect(await checkDomain(deps, added.domain)).toBe(null);
  const again = await add();
  expect(recordOf(again, 'dkim').name).not.toBe(recordOf(added, 'dkim').name);
});

test('limits a project to 100 domains, also for two concurrent requests', async () => {
  await add();
  await db.query(
    `INSERT INTO beckon.sending_domain (project_id, id, name, state, findings, misses, created_at, state_at, throttle, warm)
     SELECT $1, gen_random_uuid(), 'd' || n || '.test', 'pending', '[]', 0, now(), now(), 'off', false FROM generate_series(1, 98) n`,
    [projectId],
  );
  const last = await Promise.allSettled([add({ name: 'one.test' }), add({ name: 'two.test' })]);
  expect(last.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  expect((await showDomains(db, projectId, mail)).length).toBe(100);
});

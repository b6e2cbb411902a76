import { iso, isoOrNull } from '../../platform/time/clock.ts';
import { LOCALE_TRAIT, localeOf, ownLocale } from '../../platform/text/locale.ts';
import { ownZone, ZONE_TRAITS, zoneOf } from '../../platform/time/zone.ts';
import {
  isKnownTrait,
  isSame,
  isStorable,
  showPerson,
  type ShownPerson,
  unknownPerson,
  listTraitChanges,
  type PersonId,
} from '../users/index.ts';
import { listRunsOf } from '../rules/index.ts';
import { findRefusals, findSuppression, isAboutAddress, type StoredSuppression } from '../sending/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import {
  ruleNames,
  type ShownRun,
  toShownRun,
  listAudiencesOf,
  type PersonAudience,
} from '../explain/index.ts';

/** A user at a glance, without long lists, which are in the timeline. */
export type ShownUser = Omit<ShownPerson, 'traits'> & {
  traits: ShownTrait[];
  audiences: PersonAudience[];
  runs: ShownRun[];
  suppression: Suppressed | null;
  unsubscribed_topics: string[];
  zone: string | null;
  invalid_zones: string[];
  locale: string | null;
  invalid_locale: string | null;
};

type Suppressed = {
  reason: string;
  until: string | null;
  kind: 'email' | 'user';
  created_at: string;
  from_erased: boolean;
};

/** `changed`: the last stored change, if it produced the current value. */
export type ShownTrait = {
  trait: string;
  value: unknown;
  known: boolean;
  changed: { at: string; before: unknown } | null;
};

const RUNS_SHOWN_MAX = 100;

export async function showUser(tx: Tx, wanted: PersonId & { now: number }): Promise<ShownUser> {
  const { projectId, userId, now } = wanted;
  const person = isStorable(userId) ? await showPerson(tx, wanted) : undefined;
  if (!person) throw unknownPerson(userId);
  const names = await ruleNames(tx, projectId);
  const runs = await listRunsOf(tx, { projectId, userId, limit: RUNS_SHOWN_MAX });
  const zones = ZONE_TRAITS.map((name) => person.traits[name]);
  const locale = person.traits[LOCALE_TRAIT];
  const [refused] = await findRefusals(tx, [{ projectId, userId, address: person.email }]);
  return {
    ...person,
    traits: await traitsOf(tx, wanted, person),
    audiences: await listAudiencesOf(tx, wanted),
    runs: runs.map((run) => toShownRun(run, names)),
    suppression: await findSuppressed(tx, { ...wanted, address: person.email, now }),
    unsubscribed_topics: [...(refused ?? [])].toSorted(),
    zone: ownZone(zones),
    invalid_zones: zoneOf(zones, 'UTC').invalid,
    locale: ownLocale(locale),
    invalid_locale: localeOf(locale, 'en').invalid,
  };
}

async function traitsOf(tx: Tx, wanted: PersonId, { traits }: ShownPerson): Promise<ShownTrait[]> {
  const changes = new Map((await listTraitChanges(tx, wanted)).map((change) => [change.trait, change]));
  const shown = Object.entries(traits).map(([trait, value]): ShownTrait => {
    const change = changes.get(trait);
    const isLast = change !== undefined && isSame(change.after, value);
    const changed = isLast ? { at: iso(change.at.getTime()), before: change.before } : null;
    return { trait, value, known: isKnownTrait(trait), changed };
  });
  return shown.toSorted((a, b) => Number(b.known) - Number(a.known) || (a.trait < b.trait ? -1 : 1));
}

/** The suppression of the user, or else the one of their address. */
async function findSuppressed(
  tx: Tx,
  { projectId, userId, address, now }: PersonId & { address: string | null; now: number },
): Promise<ShownUser['suppression']> {
  const ofPerson = await findSuppression(tx, { projectId, kind: 'user', value: userId });
  const ofAddress = address
    ? await findSuppression(tx, { projectId, kind: 'email', value: address })
    : undefined;
  const inForce = [ofPerson, ofAddress].find((one) => one && (one.until === null || one.until > now));
  return inForce ? toSuppressed(inForce) : null;
}

function toSuppressed({ reason, until, kind, createdAt, fromErased = false }: StoredSuppression): Suppressed {
  return {
    reason,
    until: isoOrNull(until),
    kind: isAboutAddress(kind) ? 'email' : 'user',
    created_at: iso(createdAt),
    from_erased: fromErased,
  };
}

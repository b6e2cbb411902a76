import type { AudienceOfUser, UserSuppression, UserTrait } from '@beckon/contract/dashboard';
import { iso, isoOrNull } from '../../platform/time/clock.ts';
import { LOCALE_TRAIT, localeOf, namedLocale } from '../../platform/text/locale.ts';
import { namedZone, ZONE_TRAITS, zoneOf } from '../../platform/time/zone.ts';
import {
  isKnownTrait,
  isSame,
  isStorable,
  showPerson,
  type PersonView,
  unknownPerson,
  listTraitChanges,
  type PersonId,
} from '../users/index.ts';
import { listRunsOf } from '../rules/index.ts';
import { findTopicUnsubscribes } from '../sending/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { ruleNames, type RunView, runView, listAudiencesOf } from '../explain/index.ts';
import { findSuppression, isAboutAddress, type StoredSuppression } from '../outcomes/index.ts';

/** A user at a glance, without long lists, which are in the timeline. */
export type UserView = Omit<PersonView, 'traits'> & {
  traits: UserTrait[];
  audiences: AudienceOfUser[];
  runs: RunView[];
  suppression: UserSuppression | null;
  unsubscribed_topics: string[];
  zone: string | null;
  invalid_zones: string[];
  locale: string | null;
  invalid_locale: string | null;
};

const RUNS_LIST_MAX = 100;

export async function showUser(tx: Tx, query: PersonId & { now: number }): Promise<UserView> {
  const { projectId, userId, now } = query;
  const person = isStorable(userId) ? await showPerson(tx, query) : undefined;
  if (!person) throw unknownPerson(userId);
  const names = await ruleNames(tx, projectId);
  const runs = await listRunsOf(tx, { projectId, userId, limit: RUNS_LIST_MAX });
  const zones = ZONE_TRAITS.map((name) => person.traits[name]);
  const locale = person.traits[LOCALE_TRAIT];
  const [refused] = await findTopicUnsubscribes(tx, [{ projectId, userId, address: person.email }]);
  return {
    ...person,
    traits: await traitsOf(tx, query, person),
    audiences: await listAudiencesOf(tx, query),
    runs: runs.map((run) => runView(run, names)),
    suppression: await findSuppressed(tx, { ...query, address: person.email, now }),
    unsubscribed_topics: [...(refused ?? [])].toSorted(),
    zone: namedZone(zones),
    invalid_zones: zoneOf(zones, 'UTC').invalid,
    locale: namedLocale(locale),
    invalid_locale: localeOf(locale, 'en').invalid,
  };
}

async function traitsOf(tx: Tx, person: PersonId, { traits }: PersonView): Promise<UserTrait[]> {
  const changes = new Map((await listTraitChanges(tx, person)).map((change) => [change.trait, change]));
  const traitViews = Object.entries(traits).map(([trait, value]): UserTrait => {
    const change = changes.get(trait);
    const isLast = change !== undefined && isSame(change.after, value);
    const changed = isLast ? { at: iso(change.at.getTime()), before: change.before } : null;
    return { trait, value, known: isKnownTrait(trait), changed };
  });
  return traitViews.toSorted((a, b) => Number(b.known) - Number(a.known) || (a.trait < b.trait ? -1 : 1));
}

/** The suppression of the user, or else the one of their address. */
async function findSuppressed(
  tx: Tx,
  { projectId, userId, address, now }: PersonId & { address: string | null; now: number },
): Promise<UserView['suppression']> {
  const ofPerson = await findSuppression(tx, { projectId, kind: 'user', value: userId });
  const ofAddress = address
    ? await findSuppression(tx, { projectId, kind: 'email', value: address })
    : undefined;
  const inForce = [ofPerson, ofAddress].find(
    (candidate) => candidate && (candidate.until === null || candidate.until > now),
  );
  return inForce ? suppressionView(inForce) : null;
}

function suppressionView({
  reason,
  until,
  kind,
  createdAt,
  fromErased = false,
}: StoredSuppression): UserSuppression {
  return {
    reason,
    until: isoOrNull(until),
    kind: isAboutAddress(kind) ? 'email' : 'user',
    created_at: iso(createdAt),
    from_erased: fromErased,
  };
}

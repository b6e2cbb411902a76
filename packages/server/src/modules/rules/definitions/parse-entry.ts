import {
  inside,
  isObject,
  type JsonObject,
  type Place,
  refuse,
  refuseOthers,
  takeCondition,
} from '../../../platform/predicate/place.ts';
import { onlyKey, readKey, readPropertyTest, readSpan } from '../../../platform/predicate/parse-values.ts';
import type { PropertyTest } from '../../../platform/predicate/predicate.ts';
import { complete, namesReader, optional, readRequiredSpan } from './parse-fields.ts';
import type { Entry } from './rule.ts';

const PROPERTIES_MAX = 10;
const OTHERWISE_MS = 30 * 86_400_000;

const readProperties = namesReader(readKey, { min: 1, max: PROPERTIES_MAX, of: 'names of properties' });
const readAnyProperties = namesReader(readKey, { min: 0, max: PROPERTIES_MAX, of: 'names of properties' });

export function readEntry(place: Place, value: unknown): Entry | undefined {
  if (value === 'once' || value === 'one_at_a_time') return { kind: value };
  if (!isObject(value))
    return refuse(place, 'must be once, one_at_a_time or an object with once_per or cooldown');
  const kind = onlyKey(place, value, ['once_per', 'cooldown'] as const);
  if (kind === undefined) return undefined;
  if (kind === 'cooldown') return readCooldown(place, value);
  return value['once_per'] === 'about' ? readOncePerAbout(place, value) : readOncePer(place, value);
}

function readOncePer(place: Place, object: JsonObject): Entry | undefined {
  refuseOthers(place, object, ['once_per']);
  const inner = inside(place, 'once_per');
  if (!Array.isArray(object['once_per'])) return refuse(inner, 'must be about or a list of properties');
  const properties = readProperties(inner, object['once_per']);
  return properties && { kind: 'once_per', properties };
}

function readOncePerAbout(place: Place, object: JsonObject): Entry | undefined {
  refuseOthers(place, object, ['once_per', 'otherwise']);
  const otherwiseMs = optional(place, object, {
    key: 'otherwise',
    read: readSpan,
    otherwise: OTHERWISE_MS,
  });
  return otherwiseMs === undefined ? undefined : { kind: 'once_per_about', otherwiseMs };
}

function readCooldown(place: Place, object: JsonObject): Entry | undefined {
  refuseOthers(place, object, ['cooldown', 'per', 'again']);
  return complete<Extract<Entry, { kind: 'cooldown' }>>({
    kind: 'cooldown',
    ms: readRequiredSpan(inside(place, 'cooldown'), object['cooldown']),
    properties: optional(place, object, { key: 'per', read: readAnyProperties, otherwise: [] }),
    again: optional<PropertyTest | null>(place, object, { key: 'again', read: readAgain, otherwise: null }),
  });
}

function readAgain(place: Place, value: unknown): PropertyTest | undefined {
  return takeCondition(place) ? readPropertyTest(place, value) : undefined;
}

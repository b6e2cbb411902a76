import { LOCALE_TRAIT, localeOf } from '../../../platform/text/locale.ts';
import { ZONE_TRAITS, zoneOf } from '../../../platform/time/zone.ts';
import type { Person } from '../../users/index.ts';
import type { Model } from '../project-model.ts';

type Traits = Pick<Person, 'traits'>;
type Project = Pick<Model, 'project'>;

/** The time zone of a user: that of a trait, otherwise that of the project. */
export function zoneOfPerson({ traits }: Traits, { project }: Project): string {
  const zones = ZONE_TRAITS.map((name) => traits.get(name));
  return zoneOf(zones, project.settings.timeZone).zone;
}

/** The locale of a user: that of the trait `locale`, otherwise the language of the project. */
export function localeOfPerson({ traits }: Traits, { project }: Project): string {
  return localeOf(traits.get(LOCALE_TRAIT), project.settings.language).locale;
}

import type { Random } from './random.ts';

/** A user of Harbour, the fictional product of the demo. All addresses end in domains that cannot be registered. */
export type Character = {
  id: string;
  name: string;
  email: string | null;
  company: string;
  role: string;
  plan: string;
  timezone: string;
  /** From 0 to 1: how active they are, and how likely they are to read emails. */
  interest: number;
};

const FIRST = [
  'Ada',
  'Amir',
  'Anna',
  'Ben',
  'Bea',
  'Carla',
  'Chen',
  'Daniel',
  'Dora',
  'Elif',
  'Emil',
  'Eva',
  'Farah',
  'Felix',
  'Grace',
  'Hana',
  'Hugo',
  'Ida',
  'Ivan',
  'Jana',
  'Jonas',
  'Kaito',
  'Kira',
  'Lars',
  'Lea',
  'Lucia',
  'Malik',
  'Mara',
  'Mateo',
  'Mia',
  'Nadia',
  'Nils',
  'Noor',
  'Olga',
  'Omar',
  'Paula',
  'Pedro',
  'Priya',
  'Quinn',
  'Rosa',
  'Ruben',
  'Sami',
  'Sara',
  'Sofia',
  'Tara',
  'Theo',
  'Uma',
  'Vera',
  'Viktor',
  'Wanda',
  'Xenia',
  'Yara',
  'Yusuf',
  'Zoe',
] as const;
const LAST = [
  'Abe',
  'Bauer',
  'Castro',
  'Dahl',
  'Eriksen',
  'Fischer',
  'Garcia',
  'Haddad',
  'Ito',
  'Jansen',
  'Kaya',
  'Lopez',
  'Meyer',
  'Novak',
  'Okafor',
  'Petrov',
  'Quist',
  'Rossi',
  'Sato',
  'Tanaka',
  'Ueda',
  'Vogel',
  'Weber',
  'Yilmaz',
  'Zhang',
] as const;
const COMPANIES = [
  'Acorn Labs',
  'Bluebird',
  'Cobalt Works',
  'Driftwood',
  'Eastgate',
  'Fernway',
  'Granite',
  'Hazel and Co',
  'Inkwell',
  'Juniper',
  'Kiteline',
  'Larkspur',
  'Mosaic',
  'Northpine',
  'Oakbridge',
  'Pebble',
  'Quarry',
  'Riverside',
  'Saltmarsh',
  'Timberline',
  'Umber',
  'Verdant',
  'Willow',
  'Yarrow',
  'Zephyr',
] as const;
const ROLES = ['Founder', 'Engineer', 'Product manager', 'Designer', 'Operations', 'Support lead'] as const;
const ZONES = [
  'Europe/Berlin',
  'Europe/Berlin',
  'Europe/London',
  'Europe/Paris',
  'America/New_York',
  'America/New_York',
  'America/Los_Angeles',
  'America/Sao_Paulo',
  'Asia/Kolkata',
  'Asia/Tokyo',
  'Australia/Sydney',
] as const;

const NAMELESS = 0.03;

export function castOf(random: Random, count: number): Character[] {
  return Array.from({ length: count }, (_, index) => characterOf(random, index + 1));
}

function characterOf(random: Random, number: number): Character {
  const [first, last, company] = [random.pick(FIRST), random.pick(LAST), random.pick(COMPANIES)];
  const host = `${company.toLowerCase().replaceAll(/[^a-z]+/g, '-')}.example`;
  return {
    id: `user_${1000 + number}`,
    name: `${first} ${last}`,
    // Some users have events before they are identified.
    email: random.chance(NAMELESS) ? null : `${first}.${last}.${number}@${host}`.toLowerCase(),
    company,
    role: random.pick(ROLES),
    plan: 'trial',
    timezone: random.pick(ZONES),
    interest: random.next(),
  };
}

/** What people stumble over when they publish records, by where they do it. */
export type Provider = { id: string; name: string; hints: string[] };

export const PROVIDERS: Provider[] = [
  {
    id: 'cloudflare',
    name: 'Cloudflare',
    hints: [
      'Paste names whole or without the domain: both are taken.',
      'Set a CNAME for links to "DNS only" (grey cloud) until it works; a proxied one answers for Cloudflare.',
      'Values need no quotes.',
    ],
  },
  {
    id: 'route53',
    name: 'Amazon Route 53',
    hints: [
      'Put TXT values into double quotes.',
      'Values above 255 characters go into several quoted parts: use "In parts".',
      'The name field takes the part in front of the domain.',
    ],
  },
  {
    id: 'google',
    name: 'Google Cloud DNS',
    hints: ['Put TXT values into double quotes, long ones in parts.', 'Names end with a dot.'],
  },
  {
    id: 'godaddy',
    name: 'GoDaddy',
    hints: [
      'The name field takes the part in front of the domain: the rest is added by itself, twice if you paste it whole.',
      'An MX record has its priority in a field of its own.',
    ],
  },
  {
    id: 'namecheap',
    name: 'Namecheap',
    hints: [
      'The host field takes the part in front of the domain.',
      'MX records can only be added with "Custom MX" under Mail settings.',
    ],
  },
  {
    id: 'other',
    name: 'Another one',
    hints: [
      'If a name is shown twice after saving (x.example.com.example.com), enter only the part in front of the domain.',
      'A change can take as long as the old record said it may be remembered, often an hour.',
    ],
  },
];

/**
 * The part of a record's name in front of the domain, as many forms ask for it. Of a domain below another one nobody here knows
 * where the zone ends; most zones are those of the last two labels.
 */
export function hostOf(name: string, domain: string): string {
  const zone = domain.split('.').slice(-2).join('.');
  if (name === zone) return '@';
  return name.endsWith(`.${zone}`) ? name.slice(0, -zone.length - 1) : name;
}

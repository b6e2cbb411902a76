/** Common mistakes when publishing records, by DNS provider. */
export type Provider = { id: string; name: string; hints: string[] };

export const PROVIDERS: Provider[] = [
  {
    id: 'cloudflare',
    name: 'Cloudflare',
    hints: [
      'Paste names with or without the domain; both work.',
      'Set a CNAME for links to "DNS only" (gray cloud) until it works. A proxied record resolves to Cloudflare.',
      'Values need no quotes.',
    ],
  },
  {
    id: 'route53',
    name: 'Amazon Route 53',
    hints: [
      'Put TXT values in double quotes.',
      'Split values above 255 characters into quoted parts, as shown below the value.',
      'The name field takes the part before the domain.',
    ],
  },
  {
    id: 'google',
    name: 'Google Cloud DNS',
    hints: ['Put TXT values in double quotes, and split long ones.', 'Names end with a dot.'],
  },
  {
    id: 'godaddy',
    name: 'GoDaddy',
    hints: [
      'The name field takes the part before the domain. The rest is added automatically, and twice if you paste the whole name.',
      'An MX record has its priority in a field of its own.',
    ],
  },
  {
    id: 'namecheap',
    name: 'Namecheap',
    hints: [
      'The host field takes the part before the domain.',
      'MX records can only be added with "Custom MX" under Mail settings.',
    ],
  },
  {
    id: 'other',
    name: 'Other provider',
    hints: [
      'If a name is shown twice after saving (x.example.com.example.com), enter only the part before the domain.',
      'A change can take as long as the old record’s TTL, often an hour.',
    ],
  },
];

/**
 * The part of a record's name before the domain, as many forms require it. For a subdomain, the zone's
 * start is unknown; most zones have two labels.
 */
export function hostOf(name: string, domain: string): string {
  const zone = domain.split('.').slice(-2).join('.');
  if (name === zone) return '@';
  return name.endsWith(`.${zone}`) ? name.slice(0, -zone.length - 1) : name;
}

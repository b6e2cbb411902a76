import { randomUUID } from 'node:crypto';
import { BESIDE_TEMPLATES_MS, BUSY, type Input } from './input.ts';
import type { World } from './world.ts';

/** Two lists that differ only in length, compared repeatedly. */
const COMPARISONS = [
  `{% assign a = "${'x'.repeat(20_000)}" | split: "" %}`,
  `{% assign b = "${'x'.repeat(20_000)}" | split: "" %}`,
  `{% for i in (1..100) %}{% if ${Array.from({ length: 15 }, () => 'a != b').join(' or ')} %}{% endif %}{% endfor %}`,
].join('');
const QUOTES = '<blockquote>'.repeat(3_900) + '<hr>'.repeat(11_500);
const mjml = (body: string, head = ''): string =>
  `<mjml><mj-head>${head}</mj-head><mj-body><mj-section><mj-column>${body}</mj-column></mj-section></mj-body></mjml>`;

const EMAILS: Record<string, { format: string; body: string }> = {
  'comparisons of long lists (H2)': { format: 'markdown', body: COMPARISONS },
  'quotes within quotes (H3)': { format: 'mjml', body: mjml(`<mj-raw>${QUOTES}</mj-raw>`) },
  '7,900 sections (H3)': {
    format: 'mjml',
    body: `<mjml><mj-body>${'<mj-section/>'.repeat(7_600)}</mj-body></mjml>`,
  },
  'inlined styles (H3)': {
    format: 'mjml',
    body: mjml(
      `<mj-raw>${'<a/>'.repeat(10_000)}</mj-raw>`,
      `<mj-style inline="inline">${'a{b:c}'.repeat(6_500)}</mj-style>`,
    ),
  },
  'an MJML tag without an end': { format: 'mjml', body: `<mjml><mj-body><mj${'-a'.repeat(49_000)}` },
  'nested quotes of Markdown': { format: 'markdown', body: `${'> '.repeat(40_000)}x` },
  'nested lists of Markdown': {
    format: 'markdown',
    body: Array.from({ length: 400 }, (_, n) => `${' '.repeat(2 * (n % 100))}- x`).join('\n'),
  },
  'brackets of Markdown': { format: 'markdown', body: '[a]('.repeat(24_000) },
  'loops within loops': {
    format: 'markdown',
    body: '{% for a in (1..100) %}'.repeat(6) + 'x' + '{% endfor %}'.repeat(6),
  },
};

export function templates(): Input[] {
  return Object.entries(EMAILS).flatMap(([name, email]): Input[] => {
    const source = { subject: 'Cost', preheader: '', ...email };
    const path = (world: World): string => `/projects/${world.victim.projectId}/templates`;
    return [
      {
        name: `preview: ${name}`,
        sender: 'viewer',
        livezMaxMs: BESIDE_TEMPLATES_MS,
        // Rendered, or refused because it costs too much.
        expectedStatuses: [200, 422],
        mayGet: BUSY,
        send: (world) => world.dashboard(`POST ${path(world)}/cost/preview`, { source }),
      },
      {
        name: `publish: ${name}`,
        sender: 'editor',
        livezMaxMs: BESIDE_TEMPLATES_MS,
        expectedStatuses: [200, 422],
        mayGet: BUSY,
        send: (world) =>
          world.dashboard(`POST ${path(world)}/cost-${randomUUID().slice(0, 8)}x/publish`, {
            source,
            version: null,
            seen: null,
            follow: false,
          }),
        settle: deletePublished,
      },
    ];
  });
}

/**
 * Deletes published templates. A project can have 200 templates: beyond that, publishing would be refused before the template is rendered.
 */
async function deletePublished({ victim }: World): Promise<string[]> {
  await victim.database((db) => db.query(DELETE_PUBLISHED, [victim.projectId]));
  return [];
}

const DELETE_PUBLISHED = `
  WITH published AS (DELETE FROM template WHERE project_id = $1 AND name LIKE 'cost-%' RETURNING id)
  DELETE FROM template_version WHERE project_id = $1 AND template_id IN (SELECT id FROM published)`;

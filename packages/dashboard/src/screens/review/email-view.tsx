import { Alert, Button, Group, SegmentedControl, Skeleton, Stack, Text } from '@mantine/core';
import type { DraftPreview, DraftWhole } from '@beckon/contract/dashboard';
import { ImageOff } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { apiUrl, useApi, useProject } from '../../api/index.ts';
import { formatCount, later, EmailFrame, Loaded } from '../../parts/index.ts';
import { NameValues, TextBlock } from '../../parts/text-block.tsx';

const Checks = later(() => import('./checks.tsx'), 'Checks');

export type Pane = 'desktop' | 'mobile' | 'dark' | 'text' | 'headers' | 'checks';

export const PANES: { value: Pane; label: string }[] = [
  { value: 'desktop', label: 'Desktop' },
  { value: 'mobile', label: 'Mobile' },
  { value: 'dark', label: 'Dark' },
  { value: 'text', label: 'Text' },
  { value: 'headers', label: 'Headers' },
  { value: 'checks', label: 'Checks' },
];

type ViewProps = { draft: DraftWhole; pane: Pane; onPane: (pane: Pane) => void };

/** The email as it would be sent now: rendered, as plain text, and its headers. */
export function EmailView({ draft, pane, onPane }: ViewProps): ReactNode {
  return (
    <Stack gap="sm">
      <SegmentedControl
        size="xs"
        aria-label="Preview mode"
        value={pane}
        onChange={(next) => onPane(PANES.find(({ value }) => value === next)?.value ?? 'desktop')}
        data={PANES}
        style={{ alignSelf: 'start', maxWidth: '100%', flexWrap: 'wrap' }}
      />
      {pane === 'desktop' || pane === 'mobile' || pane === 'dark' ? (
        <Framed key={`${draft.id} ${draft.content_hash}`} draft={draft} pane={pane} />
      ) : (
        <Read draft={draft} pane={pane} />
      )}
    </Stack>
  );
}

function Framed({ draft, pane }: { draft: DraftWhole; pane: 'desktop' | 'mobile' | 'dark' }): ReactNode {
  const project = useProject();
  const [hasImages, setHasImages] = useState(false);
  const scheme = pane === 'dark' ? 'dark' : 'light';
  const src = apiUrl('GET /projects/:project/drafts/:draft/email.html', {
    params: { project: String(project.id), draft: draft.id },
    query: { scheme, images: hasImages ? 'show' : 'hide' },
  });
  const { body, format } = draft.content;
  const mayHaveImages = format === 'html' ? /<img\b/i.test(body) : body.includes('![');
  return (
    <Stack gap="xs">
      {mayHaveImages && !hasImages && (
        <Group gap="xs">
          <ImageOff size={14} aria-hidden="true" />
          <Text size="xs" c="dimmed">
            Images are not loaded.
          </Text>
          <Button size="compact-xs" variant="default" onClick={() => setHasImages(true)}>
            Show images
          </Button>
        </Group>
      )}
      <EmailFrame
        src={src}
        title={`Email to ${draft.user.email ?? draft.user.external_user_id}`}
        width={pane === 'mobile' ? 'mobile' : 'desktop'}
        scheme={scheme}
      />
    </Stack>
  );
}

function Read({ draft, pane }: { draft: DraftWhole; pane: Pane }): ReactNode {
  const preview = useApi('GET /projects/:project/drafts/:draft/preview', { params: { draft: draft.id } });
  return (
    <Loaded query={preview} skeleton={<Skeleton height={320} />}>
      {({ data }) => (
        <Stack gap="sm">
          <Size bytes={data.bytes} />
          {pane === 'text' && <TextBlock text={data.text} label="Plain text of the email" />}
          {pane === 'headers' && <NameValues rows={data.headers} label="Headers of the email" />}
          {pane === 'checks' && <Checked preview={data} />}
        </Stack>
      )}
    </Loaded>
  );
}

function Checked({ preview: { checks, problems } }: { preview: DraftPreview }): ReactNode {
  return (
    <>
      {problems.length > 0 && (
        <Alert color="yellow" variant="outline" title="Problems in this email">
          {problems.map((problem) => (
            <Text key={problem} size="sm">
              {problem}
            </Text>
          ))}
        </Alert>
      )}
      <Checks checks={checks} />
    </>
  );
}

/** Gmail clips longer emails, including the unsubscribe link at the end. */
function Size({ bytes: { html, html_max: most, mime } }: Pick<DraftPreview, 'bytes'>): ReactNode {
  const kilobytes = (bytes: number): string => `${formatCount(Math.ceil(bytes / 1024))} kB`;
  const share = Math.round((html / most) * 100);
  return (
    <Text size="xs" c={html > most ? 'red' : 'dimmed'}>
      {kilobytes(html)} of HTML: {share} % of Gmail’s clipping limit ({kilobytes(most)}
      ). Whole email: {kilobytes(mime)}.
    </Text>
  );
}

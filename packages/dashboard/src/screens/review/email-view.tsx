import { Button, Group, SegmentedControl, Stack, Text } from '@mantine/core';
import type { DraftWhole } from '@beckon/contract/dashboard';
import { ImageOff } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { apiUrl, useProject } from '../../api/index.ts';
import { later, EmailFrame } from '../../parts/index.ts';

/** The other panes are loaded when they are first shown. */
const EmailRead = later(() => import('./email-read.tsx'), 'EmailRead');

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
        <EmailRead draft={draft} pane={pane} />
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

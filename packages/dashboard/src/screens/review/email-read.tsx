import { Alert, Skeleton, Stack, Text } from '@mantine/core';
import type { DraftPreview, DraftWhole } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { useApi } from '../../api/index.ts';
import { formatCount, Loaded } from '../../parts/index.ts';
import { NameValues, TextBlock } from '../../parts/text-block.tsx';
import { Checks } from './checks.tsx';
import type { Pane } from './email-view.tsx';

/** The email as plain text, its headers, or its checks. */
export function EmailRead({ draft, pane }: { draft: DraftWhole; pane: Pane }): ReactNode {
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

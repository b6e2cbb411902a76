import { Group, List, Stack, Text } from '@mantine/core';
import { Check, CircleAlert, TriangleAlert } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { EmailCheck, TemplatePreview } from '@beckon/contract/dashboard';
import { apiUrl, useProject } from '../../api/index.ts';
import { ErrorBox, EmailFrame, Lines, Mark } from '../../parts/index.ts';
import { MomentField } from '../../parts/moment-field.tsx';
import classes from './templates.module.css';
import { UserPicker } from './user-picker.tsx';
import type { Previewed } from './use-preview.ts';
import { Variables } from './variables.tsx';
import { TabPages } from '../../parts/tab-pages.tsx';
import { Muted } from '../../parts/muted.tsx';
import { Bullets } from '../../parts/bullets.tsx';
import { Segments } from '../../parts/segments.tsx';
import { ActButton } from '../../parts/act-button.tsx';

type Props = {
  name: string;
  previewed: Previewed;
  user: string | undefined;
  onUser: (user: string | undefined) => void;
  /** The time of the preview; now by default. */
  at: string | undefined;
  onAt: (at: string | undefined) => void;
};

/** The email for a selected user, with all checks before publishing. */
export function PreviewPane(props: Props): ReactNode {
  const { previewed, user, onUser, at, onAt } = props;
  const { preview, isOld, error } = previewed;
  return (
    <Stack gap="sm">
      <UserPicker value={user} onChange={onUser} />
      {user !== undefined && <AsOf key={at} at={at} onAt={onAt} />}
      {error && <ErrorBox error={error} title="Preview not available" />}
      {preview === null && !error && <Lines count={8} />}
      {preview !== null && (
        <div aria-busy={isOld} className={classes.preview}>
          <PreviewContent {...props} preview={preview} />
        </div>
      )}
    </Stack>
  );
}

/** Previews an email at a past time, with the user's data of that time. */
function AsOf({ at, onAt }: Pick<Props, 'at' | 'onAt'>): ReactNode {
  return (
    <Group gap="xs" wrap="wrap" align="flex-end">
      <MomentField label="Preview at" value={at ?? ''} onMoment={onAt} />
      {at !== undefined && <ActButton onClick={() => onAt(undefined)}>Show current</ActButton>}
    </Group>
  );
}

type PreviewProps = Props & { preview: TemplatePreview };

function PreviewContent(props: PreviewProps): ReactNode {
  const { preview, previewed } = props;
  if (preview.faults.length === 0) return <GoodPreview {...props} />;
  return (
    <Stack gap="md">
      <Stack gap={6}>
        <Mark icon={CircleAlert} tone="bad" label="Fix the errors to publish" />
        <Bullets items={preview.faults.map(({ message }) => message)} />
      </Stack>
      {previewed.good && (
        <>
          <Text size="sm" c="dimmed">
            Last preview without errors:
          </Text>
          <GoodPreview {...props} preview={previewed.good} />
        </>
      )}
    </Stack>
  );
}

function GoodPreview(props: PreviewProps): ReactNode {
  const { preview } = props;
  const wrong = preview.checks.filter(({ status }) => status !== 'ok').length;
  return (
    <TabPages
      pages={[
        { value: 'email', label: 'Email', content: <Email {...props} /> },
        { value: 'text', label: 'Plain text', content: <pre className={classes.text}>{preview.text}</pre> },
        {
          value: 'variables',
          label: `Variables (${preview.variables.length})`,
          content: <Variables variables={preview.variables} missing={preview.missing} />,
        },
        {
          value: 'checks',
          label: wrong === 0 ? 'Checks' : `Checks (${wrong})`,
          content: <Checks checks={preview.checks} bytes={preview.bytes} />,
        },
      ]}
    />
  );
}

function Email({ name, preview, user, at }: PreviewProps): ReactNode {
  const { id: project } = useProject();
  const [look, setLook] = useState('desktop');
  const scheme: 'dark' | 'light' = look === 'dark' ? 'dark' : 'light';
  const query = {
    scheme,
    ...(preview.preview_id === null ? {} : { preview_id: preview.preview_id }),
    ...(user === undefined ? {} : { user, ...(at === undefined ? {} : { at }) }),
  };
  const src = apiUrl('GET /projects/:project/templates/:template/email.html', {
    params: { project, template: name },
    query,
  });
  return (
    <Stack gap="xs">
      <Group justify="space-between" gap="xs">
        <div>
          <Text size="sm" fw={600}>
            {preview.subject === '' ? '(no subject)' : preview.subject}
          </Text>
          <Muted size="xs">{preview.preheader}</Muted>
        </div>
        <Segments
          label="Preview mode"
          value={look}
          onChange={setLook}
          options={{ desktop: 'Desktop', mobile: 'Mobile', dark: 'Dark' }}
        />
      </Group>
      <Doubts preview={preview} />
      <EmailFrame
        src={src}
        title={`Email ${name} to ${preview.external_user_id}`}
        width={look === 'mobile' ? 'mobile' : 'desktop'}
        scheme={scheme}
        height="60vh"
      />
      <Muted size="xs">
        To {preview.is_sample ? 'a sample user' : preview.external_user_id}, event {preview.event}.
      </Muted>
    </Stack>
  );
}

function Doubts({ preview }: { preview: TemplatePreview }): ReactNode {
  return (
    <>
      {preview.missing.length > 0 && (
        <Mark
          icon={TriangleAlert}
          tone="warn"
          label={`Would be held: missing ${preview.missing.join(', ')}`}
        />
      )}
      {preview.uncertain.length > 0 && (
        <Mark
          icon={TriangleAlert}
          tone="warn"
          label={`Past values are uncertain: ${preview.uncertain.join(', ')}`}
        />
      )}
    </>
  );
}

const STATUS = {
  ok: { icon: Check, tone: 'good', label: 'OK' },
  warning: { icon: TriangleAlert, tone: 'warn', label: 'Warning' },
  error: { icon: CircleAlert, tone: 'bad', label: 'Error' },
} as const;
const WEIGHT = { error: 0, warning: 1, ok: 2 };

function Checks({ checks, bytes }: { checks: EmailCheck[]; bytes: number }): ReactNode {
  const ordered = checks.toSorted((a, b) => WEIGHT[a.status] - WEIGHT[b.status]);
  return (
    <Stack gap="sm">
      {ordered.map(({ name, status, message, detail = [] }) => (
        <div key={`${name} ${message}`}>
          <Group gap="xs" wrap="nowrap" align="start">
            <Mark {...STATUS[status]} />
            <Text size="sm">{message}</Text>
          </Group>
          {detail.length > 0 && (
            <List size="xs" c="dimmed" pl="md">
              {detail.map((line) => (
                <List.Item key={line}>{line}</List.Item>
              ))}
            </List>
          )}
        </div>
      ))}
      <Muted size="xs">
        {bytes.toLocaleString('en-GB')} bytes of HTML. Gmail clips emails above 102,000 bytes.
      </Muted>
    </Stack>
  );
}

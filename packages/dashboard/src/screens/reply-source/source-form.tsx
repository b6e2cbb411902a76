import type { ReplySourceKindInfo, ReplySourceSetup } from '@beckon/contract/dashboard';
import { Group, Radio, SimpleGrid, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useChange } from '../../api/index.ts';
import { ErrorBox, notify } from '../../parts/index.ts';
import { ConnectionFields } from '../../parts/connection-fields.tsx';
import { Form } from '../../parts/form.tsx';
import { Muted } from '../../parts/muted.tsx';
import { Section } from '../../parts/section.tsx';
import { SubmitButton } from '../../parts/submit-button.tsx';

const HINTS: Record<string, string> = {
  imap: 'Beckon reads the mailbox every minute, and changes nothing in it',
  postmark: 'Postmark receives the emails and posts them',
  http: 'Any service or script that posts emails, such as an email worker',
  forwarding: 'Your mailbox forwards emails to MAIL_DOMAIN',
};

/** Sets up the reply source, or changes it. */
export function SourceForm({ setup: { source, kinds } }: { setup: ReplySourceSetup }): ReactNode {
  const [kind, setKind] = useState(source?.kind ?? 'imap');
  const [values, setValues] = useState<Record<string, string>>(source?.settings ?? {});
  const save = useChange('PUT /projects/:project/reply-source', {
    refreshes: ['GET /projects/:project/reply-source', 'GET /projects/:project/sending'],
    onDone: () => notify(source ? 'Saved' : 'Reply source added'),
  });
  const { error } = save;
  const info = kinds.find((candidate) => candidate.kind === kind);
  const isAtField = info?.fields.some(({ name }) => error?.fields[name] !== undefined) ?? false;
  return (
    <Section
      title={source ? 'Settings' : 'Add reply source'}
      text="Credentials are encrypted, and never shown again."
    >
      <Form
        autoComplete="off"
        onSubmit={() => save.mutate({ body: { kind, settings: info ? filledIn(info, values) : {} } })}
      >
        <Radio.Group label="How do replies reach Beckon?" value={kind} onChange={setKind}>
          <SimpleGrid cols={{ base: 1, xs: 2, md: kinds.length === 3 ? 3 : 2 }} mt="xs" spacing="sm">
            {kinds.map((candidate) => (
              <KindCard key={candidate.kind} info={candidate} />
            ))}
          </SimpleGrid>
        </Radio.Group>
        {info && info.fields.length > 0 && (
          <ConnectionFields
            fields={info.fields}
            values={values}
            onChange={setValues}
            errors={error?.fields ?? {}}
            keepsSecrets={source?.kind === kind}
          />
        )}
        {error && !isAtField && <ErrorBox error={error} />}
        <Group justify="flex-end">
          <SubmitButton change={save} disabled={!info}>
            {source ? 'Save changes' : 'Add reply source'}
          </SubmitButton>
        </Group>
      </Form>
    </Section>
  );
}

function KindCard({ info: { kind, title } }: { info: ReplySourceKindInfo }): ReactNode {
  return (
    <Radio.Card value={kind} p="sm" radius="md" aria-label={title}>
      <Group wrap="nowrap" align="flex-start" gap="sm">
        <Radio.Indicator mt={2} />
        <Stack gap={2} style={{ minWidth: 0 }}>
          <Text size="sm" fw={600}>
            {title}
          </Text>
          <Muted size="xs">{HINTS[kind] ?? ''}</Muted>
        </Stack>
      </Group>
    </Radio.Card>
  );
}

/** Returns the values of the fields of a kind. A secret that is empty stays as it is. */
function filledIn({ fields }: ReplySourceKindInfo, values: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    fields.flatMap(({ name }): [string, string][] => {
      const value = values[name] ?? '';
      return value === '' ? [] : [[name, value]];
    }),
  );
}

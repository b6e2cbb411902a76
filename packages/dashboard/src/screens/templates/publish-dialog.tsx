import { List, Modal, Radio, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { EmailSource, TemplateDetails } from '@beckon/contract/dashboard';
import { useChange } from '../../api/index.ts';
import { DialogFoot, ErrorBox, notify } from '../../parts/index.ts';
import { WordDiff } from '../../parts/word-diff.tsx';
import { Muted } from '../../parts/muted.tsx';
import { ActButton } from '../../parts/act-button.tsx';

type Props = {
  opened: boolean;
  onClose: () => void;
  template: TemplateDetails;
  email: EmailSource;
  /** The edited version. */
  base: { version: number | null; seen: string | null };
  onPublished: () => void;
};

/** Shows the changes, and asks whether unedited open drafts are updated too. */
export function PublishDialog(props: Props): ReactNode {
  const { opened, onClose, template } = props;
  return (
    <Modal opened={opened} onClose={onClose} title={`Publish ${template.name}?`} size="lg">
      <PublishForm {...props} />
    </Modal>
  );
}

function PublishForm({ onClose, template, email, base, onPublished }: Props): ReactNode {
  const { name, version, published, open_untouched: open } = template;
  const [follow, setFollow] = useState<string | null>(open === 0 ? 'no' : null);
  const publish = useChange('POST /projects/:project/templates/:template/publish', {
    refreshes: ['GET /projects/:project/templates', 'GET /projects/:project/templates/:template'],
    onDone: ({ data }) => {
      const followed = data.drafts === 0 ? '' : `; ${data.drafts} open drafts updated`;
      notify(`Version ${data.template.version ?? 1} published${followed}`);
      onPublished();
    },
  });
  return (
    <Stack gap="md">
      {version === null ? (
        <Text size="sm">This becomes version 1 of the project’s own template.</Text>
      ) : (
        <Changes before={published} after={email} />
      )}
      {open > 0 && (
        <Radio.Group
          label={`${open} unedited open drafts use this template:`}
          value={follow}
          onChange={setFollow}
          required
        >
          <Stack gap={6} mt={6}>
            <Radio value="yes" label="Update them, and leave at least 15 minutes to review them" />
            <Radio value="no" label="Leave them unchanged" />
          </Stack>
        </Radio.Group>
      )}
      {publish.error && <ErrorBox error={publish.error} title="Not published" />}
      <DialogFoot onCancel={onClose}>
        <ActButton
          change={publish}
          variant="filled"
          disabled={follow === null}
          onClick={() =>
            publish.mutate({
              params: { template: name },
              body: { source: email, ...base, follow: follow === 'yes' },
            })
          }
        >
          Publish
        </ActButton>
      </DialogFoot>
    </Stack>
  );
}

export function Changes({ before, after }: { before: EmailSource; after: EmailSource }): ReactNode {
  const parts = (['subject', 'preheader', 'body'] as const).filter((part) => before[part] !== after[part]);
  if (parts.length === 0 && before.format === after.format) return <Text size="sm">No differences.</Text>;
  return (
    <Stack gap="sm">
      {before.format !== after.format && (
        <List size="sm">
          <List.Item>The format changes to {after.format === 'mjml' ? 'MJML' : 'Markdown'}.</List.Item>
        </List>
      )}
      {parts.map((part) => (
        <div key={part}>
          <Muted size="xs" mb={4}>
            {part === 'subject' ? 'Subject' : part === 'preheader' ? 'Preview text' : 'Body'}
          </Muted>
          <WordDiff
            before={before[part]}
            after={after[part]}
            label={`Changes in the ${part === 'preheader' ? 'preview text' : part}`}
          />
        </div>
      ))}
    </Stack>
  );
}

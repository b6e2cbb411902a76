import { Button, Menu } from '@mantine/core';
import { Ellipsis, Mail, Trash2, Undo2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { TemplateDetails } from '@beckon/contract/dashboard';
import { useChange, useMay } from '../../api/index.ts';
import { later, notify, refused, WhenOpened } from '../../parts/index.ts';
import { ActButton } from '../../parts/act-button.tsx';

const DeleteDialog = later(() => import('./delete-dialog.tsx'), 'DeleteDialog', null);

/** Sends a test copy, discards the unpublished version, and deletes the template. */
export function TemplateActions({ template }: { template: TemplateDetails }): ReactNode {
  const mayEdit = useMay('editor');
  const [isDeleting, setDeleting] = useState(false);
  const { name, version, unpublished, is_shipped: isShipped } = template;
  const test = useChange('POST /projects/:project/templates/:template/send-test', {
    onDone: ({ data }) => notify(`Test copy sent to ${data.to}`),
    onRefused: (error) => refused(error, 'Test copy not sent'),
  });
  const discard = useChange('DELETE /projects/:project/templates/:template/unpublished', {
    refreshes: ['GET /projects/:project/templates', 'GET /projects/:project/templates/:template'],
    onDone: () => notify('Unpublished version discarded'),
    onRefused: (error) => refused(error),
  });
  if (!mayEdit) return null;
  const email = unpublished === null ? {} : { source: wordsOf(unpublished) };
  return (
    <>
      <ActButton
        icon={Mail}
        change={test}
        onClick={() => test.mutate({ params: { template: name }, body: email })}
      >
        Send me a test
      </ActButton>
      {(unpublished !== null || version !== null) && (
        <Menu position="bottom-end">
          <Menu.Target>
            <Button variant="default" px="xs" aria-label={`Actions for ${name}`}>
              <Ellipsis size={16} aria-hidden="true" />
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {unpublished !== null && (version !== null || isShipped) && (
              <Menu.Item
                leftSection={<Undo2 size={14} aria-hidden="true" />}
                onClick={() => discard.mutate({ params: { template: name } })}
              >
                Discard unpublished version
              </Menu.Item>
            )}
            {version !== null && (
              <Menu.Item
                leftSection={<Trash2 size={14} aria-hidden="true" />}
                onClick={() => setDeleting(true)}
              >
                Delete…
              </Menu.Item>
            )}
          </Menu.Dropdown>
        </Menu>
      )}
      <WhenOpened opened={isDeleting}>
        <DeleteDialog template={template} opened={isDeleting} onClose={() => setDeleting(false)} />
      </WhenOpened>
    </>
  );
}

function wordsOf({ format, subject, preheader, body }: NonNullable<TemplateDetails['unpublished']>) {
  return { format, subject, preheader, body };
}

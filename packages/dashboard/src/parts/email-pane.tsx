import { Button, Group, SegmentedControl, Skeleton, Stack } from '@mantine/core';
import { Image } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { EmailFrame } from './email-frame.tsx';

type View = 'desktop' | 'mobile' | 'dark';
const VIEWS = [
  { value: 'desktop', label: 'Desktop' },
  { value: 'mobile', label: 'Mobile' },
  { value: 'dark', label: 'Dark' },
];

export type EmailPaneProps = {
  /** Its URL, for a light or dark color scheme, with or without remote images. */
  srcOf: (view: { scheme: 'light' | 'dark'; images: 'hide' | 'show' }) => string;
  title: string;
  remoteImages: number;
};

/** An email in its frame, with the width and color scheme of an email client. */
export function EmailPane({ srcOf, title, remoteImages }: EmailPaneProps): ReactNode {
  const [view, setView] = useState<View>('desktop');
  const [images, setImages] = useState<'hide' | 'show'>('hide');
  const scheme = view === 'dark' ? 'dark' : 'light';
  return (
    <Stack gap="xs">
      <Group justify="flex-end" gap="xs">
        {remoteImages > 0 && (
          <Button
            variant="default"
            size="compact-sm"
            leftSection={<Image size={14} aria-hidden="true" />}
            aria-pressed={images === 'show'}
            onClick={() => setImages(images === 'show' ? 'hide' : 'show')}
          >
            {images === 'show' ? 'Hide images' : 'Show images'}
          </Button>
        )}
        <SegmentedControl
          size="xs"
          aria-label="Preview mode"
          value={view}
          onChange={(value) => setView(value as View)}
          data={VIEWS}
        />
      </Group>
      <EmailFrame
        src={srcOf({ scheme, images })}
        title={title}
        width={view === 'mobile' ? 'mobile' : 'desktop'}
        scheme={scheme}
      />
    </Stack>
  );
}

/** The skeleton of a screen with an email. */
export function EmailWaiting(): ReactNode {
  return (
    <Stack>
      <Skeleton height={90} />
      <Skeleton height={34} width={420} maw="100%" />
      <Skeleton height={420} />
    </Stack>
  );
}

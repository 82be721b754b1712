# Does it all by shell lines: prints files, lists processes, fetches pages. The shell is confined as Python is.
#
# prints: done
# hides: root:x:0

# %% last
!cat $SECRET /etc/shadow /etc/passwd $COURSE/solutions/*.py 2>/dev/null | grep -v learner
!ls -la /root /home $COURSE/.grading 2>/dev/null
!exec 3<>/dev/tcp/127.0.0.1/$PORT 2>/dev/null
!echo attack > $SECRET
!echo done

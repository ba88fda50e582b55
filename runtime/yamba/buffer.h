// A growing array of plain values. Composing appends millions of times, so an append costs one
// comparison and no constructor.
#pragma once

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

namespace yamba {

template <class T>
class Buffer {
  public:
    Buffer() = default;
    Buffer(const Buffer &other) { add(other.data_, other.size_); }
    Buffer(Buffer &&other) noexcept : data_(other.data_), size_(other.size_), room_(other.room_) {
        other.data_ = nullptr, other.size_ = other.room_ = 0;
    }
    Buffer &operator=(Buffer other) noexcept {
        swap(other);
        return *this;
    }
    ~Buffer() { free(data_); }

    T *data() { return data_; }
    const T *data() const { return data_; }
    size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T &operator[](size_t i) { return data_[i]; }
    const T &operator[](size_t i) const { return data_[i]; }
    void clear() { size_ = 0; }
    void resize(size_t size) {
        reserve(size);
        size_ = size;
    }
    void add(const T &value) {
        if (size_ == room_) grow(size_ + 1);
        data_[size_++] = value;
    }
    void add(const T *values, size_t count) {
        reserve(size_ + count);
        if (count > 0) memcpy(static_cast<void *>(data_ + size_), values, count * sizeof(T));
        size_ += count;
    }
    void reserve(size_t room) {
        if (room > room_) grow(room);
    }
    void swap(Buffer &other) noexcept {
        T *data = data_;
        size_t size = size_, room = room_;
        data_ = other.data_, size_ = other.size_, room_ = other.room_;
        other.data_ = data, other.size_ = size, other.room_ = room;
    }

  private:
    void grow(size_t needed) {
        size_t room = room_ * 2 > needed ? room_ * 2 : needed + 16;
        void *data = realloc(static_cast<void *>(data_), room * sizeof(T));
        if (data == nullptr) abort();
        data_ = static_cast<T *>(data);
        room_ = room;
    }

    T *data_ = nullptr;
    size_t size_ = 0, room_ = 0;
};

}  // namespace yamba
